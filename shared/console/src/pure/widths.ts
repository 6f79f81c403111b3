// The widths of the columns of a grid.

/** leastWidth returns the least width of columns, in rem: the sum of those of their tracks. */
export function leastWidth(tracks: readonly string[]): number {
	return tracks.reduce((sum, track) => sum + Number(/([\d.]+)rem/.exec(track)?.[1] ?? 0), 0);
}

const padding = 1.3; // rem, of a cell
const letter = 0.46; // rem
const capital = 0.58;

/** Limits are the least and the largest width of a column that is as wide as its texts, in rem. */
export type Limits = readonly [least: number, most: number];

/**
 * fitted returns the track of a column, which is as wide as the longest of its texts, within limits. In a narrow grid, it shrinks to the
 * least width if it may.
 */
export function fitted(texts: readonly string[], [least, most]: Limits, shrinks = true): string {
	const longest = texts.reduce((width, text) => {
		const capitals = text.length - text.replace(/[A-Z]/g, '').length;
		return Math.max(width, capitals * capital + (text.length - capitals) * letter);
	}, 0);
	const width = Math.min(most, Math.max(least, Math.ceil((longest + padding) * 10) / 10));
	return shrinks ? `minmax(${least}rem, ${width}rem)` : `${width}rem`;
}
