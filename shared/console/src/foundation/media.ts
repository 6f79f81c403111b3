// The width of the window, where the layout and not only the style depends on it.
import { useEffect, useState } from 'preact/hooks';

export const narrow = '(max-width: 699px)'; // one column, rows of two lines
export const wide = '(min-width: 1200px)'; // a record beside the list

/** mostSegments is how many segments a chart has at most, so that each is several pixels wide. */
export function mostSegments(): number {
	return matchMedia(narrow).matches ? 120 : 400;
}

/** usePaper reports whether the page is being printed. Some browsers say it by the event alone, before they lay the page out. */
export function usePaper(): boolean {
	const [printing, print] = useState(false);
	useEffect(() => {
		const begin = (): void => print(true);
		const end = (): void => print(false);
		addEventListener('beforeprint', begin);
		addEventListener('afterprint', end);
		return () => {
			removeEventListener('beforeprint', begin);
			removeEventListener('afterprint', end);
		};
	}, []);
	return useMedia('print') || printing;
}

export function useMedia(query: string): boolean {
	const [matches, setMatches] = useState(() => matchMedia(query).matches);
	useEffect(() => {
		const media = matchMedia(query);
		const change = (): void => setMatches(media.matches);
		change();
		media.addEventListener('change', change);
		return () => media.removeEventListener('change', change);
	}, [query]);
	return matches;
}
