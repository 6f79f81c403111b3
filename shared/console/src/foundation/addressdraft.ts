// What is typed reaches the address after a pause.
import { type Draft, fragmentFor } from '../pure/draft';

const setting = 'orrery.typed';
const typingPause = 500; // milliseconds after the last key

let draft = JSON.parse(sessionStorage.getItem(setting) ?? 'null') as Draft; // of the page before a reload
let timer = 0;

function keep(next: Draft): void {
	clearTimeout(timer);
	if (next) {
		timer = setTimeout(write, typingPause); // the tab still keeps it then: a reload may have begun with the address before
		sessionStorage.setItem(setting, JSON.stringify(next));
	} else if (draft) sessionStorage.removeItem(setting);
	draft = next;
}

function write(): void {
	const fragment = fragmentFor(draft, location.hash);
	if (fragment !== null) history.replaceState(history.state, '', fragment);
}

/** keepTyped puts a fragment into the address after a pause. */
export function keepTyped(fragment: string): void {
	keep([location.hash, fragment]);
}

/** writeTyped puts it there now; also what a reload of the page left. */
export function writeTyped(): void {
	write();
	keep(null);
}

/** forgetTyped leaves the address as it is, because the reader went elsewhere. */
export function forgetTyped(): void {
	keep(null);
}
