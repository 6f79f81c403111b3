// What is typed into the address. Browsers refuse to change the address at each key, so it gets there after a pause. Until then the
// tab keeps it, so that a reload loses nothing.

/** The address at which something was typed, and the fragment that it shall have. null: the address has everything. */
export type Draft = readonly [address: string, fragment: string] | null;

/** fragmentFor returns what a draft puts into an address: nothing if the tab is elsewhere by now. */
export function fragmentFor(draft: Draft, address: string): string | null {
	return draft?.[0] === address ? draft[1] : null;
}
