// What is typed reaches the address after a pause, because browsers refuse to change it at each key. Until then the tab keeps it, so
// that a reload loses nothing.
const setting = 'orrery.typed';
const typingPause = 500; // milliseconds after the last key

let typed = ''; // the fragment that the address does not have yet
let timer = 0;

/** keepTyped puts a fragment into the address after a pause. */
export function keepTyped(fragment: string): void {
	clearTimeout(timer);
	timer = setTimeout(writeTyped, typingPause);
	typed = fragment;
	sessionStorage.setItem(setting, JSON.stringify([location.hash, fragment]));
}

/** writeTyped puts it there now. */
export function writeTyped(): void {
	if (typed !== '') history.replaceState(history.state, '', typed);
	forgetTyped();
}

/** forgetTyped leaves the address as it is, because the reader went elsewhere. */
export function forgetTyped(): void {
	if (typed === '') return;
	clearTimeout(timer);
	typed = '';
	sessionStorage.removeItem(setting);
}

/** restoreTyped puts into the address what a reload of the page left. */
export function restoreTyped(): void {
	const [address, fragment] = JSON.parse(sessionStorage.getItem(setting) ?? '[]') as string[];
	sessionStorage.removeItem(setting);
	if (fragment !== undefined && address === location.hash) history.replaceState(history.state, '', fragment);
}
