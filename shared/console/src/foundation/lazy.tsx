// Parts of the page that are loaded when they are drawn, each with its own styles.
import type { ComponentType } from 'preact';
import { useEffect, useReducer, useState } from 'preact/hooks';
import { words } from '../pure/words';

/** lazy returns a part that is loaded when it is first drawn. Its style sheets are added in their order: shared ones, then its own. */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>, ...sheets: string[]): ComponentType<P> {
	let Loaded: ComponentType<P> | null = null;
	const loadAll = async (): Promise<void> => {
		for (const sheet of sheets.slice(0, -1)) await loadStyle(sheet);
		[Loaded] = await Promise.all([load(), ...sheets.slice(-1).map(loadStyle)]);
	};
	return function Lazy(props: P) {
		const [, redraw] = useReducer((n: number) => n + 1, 0);
		const [failed, setFailed] = useState(false);
		const drawn = Loaded !== null;
		useEffect(() => {
			if (!drawn && Loaded) redraw(0); // it came meanwhile, for another place of the page
			else if (!Loaded) loadAll().then(() => redraw(0), () => setFailed(true));
		}, []);
		if (Loaded) return <Loaded {...props} />;
		if (failed) return <NotLoaded />;
		return <p class="quiet" role="status"><span class="late">{words.loading}</span></p>;
	};
}

const styles = new Map<string, Promise<void>>();

/** loadStyle adds a style sheet to the page, once. It is in the folder of the scripts. */
function loadStyle(name: string): Promise<void> {
	const there = styles.get(name);
	if (there) return there;
	const loading = addStyle(name);
	styles.set(name, loading);
	loading.catch(() => styles.delete(name));
	return loading;
}

function addStyle(name: string): Promise<void> {
	return new Promise((resolve, reject) => {
		const link = document.createElement('link');
		link.rel = 'stylesheet';
		link.href = new URL(name, import.meta.url).href;
		link.onload = () => resolve();
		link.onerror = () => {
			link.remove();
			reject(new Error(name));
		};
		document.head.append(link);
	});
}

/** NotLoaded offers to load the page again: browsers do not ask again for a script that failed, and there may be a newer one. */
function NotLoaded() {
	return <section class="trouble failed" role="alert">
		<p><strong>{words.notLoaded}</strong></p>
		<p>{words.notLoadedHint}</p>
		<button type="button" onClick={() => location.reload()}>{words.reload}</button>
	</section>;
}
