// Reports as the console draws them: where their links lead, and the length of their bars.
import type { Bar } from './reportanswer';

/** fragmentOf returns the fragment of a link of a report, which is a place of this console, or "" if it has none. */
export function fragmentOf(link: string | undefined): string {
	const at = link?.indexOf('#/') ?? -1;
	return link === undefined || at < 0 ? '' : link.slice(at);
}

/** secondsOf returns the length of the bars of a chart. That of months is the length of the first one. */
export function secondsOf(bars: readonly Pick<Bar, 'from'>[]): number {
	const [first, second] = bars.map((bar) => Date.parse(bar.from) / 1000);
	return first === undefined || second === undefined ? 3600 : second - first;
}
