// By what requests are counted: fields, and the networks of addresses.
import type { Field } from './complete';
import { lengthIn } from './filter';
import { words } from './words';

/** Grouping is a field without members, or its networks of a size. */
export interface Grouping {
	name: string; // as the API takes it
	label: string;
	doc: string;
}

/** groupings are the fields without members by which requests are counted, each with its networks. */
export function groupings(fields: readonly Field[]): Grouping[] {
	return fields.filter((field) => field.groupable && !field.key).flatMap(({ name, networks = [], doc }) =>
		[name, ...networks].map((one) => ({ name: one, label: labelOf(one), doc })));
}

/** choices lists what the reader can group by: the known groupings, and the chosen ones that are not among them. */
export function choices(fields: readonly Field[], chosen: readonly string[] | null): (readonly [name: string, label: string])[] {
	return [...new Set([...groupings(fields).map(({ name }) => name), ...chosen ?? []])].map((name) => [name, labelOf(name)]);
}

/** labelOf names a grouping for readers. */
export function labelOf(by: string): string {
	const length = lengthIn(by);
	return length === null ? by : words.network(length);
}
