// Receivers of reports.

/** addressesOf returns the addresses of a text, which have commas, semicolons or space between them. */
export function addressesOf(text: string): string[] {
	return text.split(/[\s,;]+/).filter((address) => address !== '');
}
