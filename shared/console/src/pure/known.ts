// Which fields the records of a period have.

/** What an answer says about a field. */
interface Counted {
	by: string;
	num_of_requests: number;
	num_of_absent: number;
}

/** The fields that some of the requests have. null is what is not known yet. */
export type Known = ReadonlySet<string> | null;

/** knownOf returns the fields that some of the requests have, and others. Without any requests, every field counts as known. */
export function knownOf(facets: readonly Counted[] | null, others: readonly string[] = []): Known {
	const has = (one: Counted): boolean => one.num_of_requests > 0 || one.num_of_absent === 0;
	return facets && new Set([...others, ...facets.filter(has).map((one) => one.by)]);
}

/** numberIn returns a number of requests with a value of a field. Where no request has the field, zero is not known. */
export function numberIn(known: Known, field: string, n: number | null): number | null {
	return n !== null && (n > 0 || known?.has(field)) ? n : null;
}

/** lacks reports whether it is known that no request has a field. */
export function lacks(known: Known, field: string): boolean {
	return known !== null && !known.has(field);
}
