// The widths of the columns of a grid.

/** leastWidth returns the least width of columns, in rem: the sum of those of their tracks. */
export function leastWidth(tracks: readonly string[]): number {
	return tracks.reduce((sum, track) => sum + Number(/([\d.]+)rem/.exec(track)?.[1] ?? 0), 0);
}
