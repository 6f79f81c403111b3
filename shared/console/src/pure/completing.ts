// Completion in the filter bar: what is offered at the caret at once, and what when the server has answered.
import {
	type Expected, expectedAt, type Field, fieldOptions, keyOptions, mostOptions, nextOptions, operatorOptions, type Option, type Sought,
	soughtOf, take, valueOptions,
} from './complete';
import { isJSON, type Value } from './filter';
import { savedAt } from './names';
import { noOptions, type Options } from './options';

/** A saved filter, as an option. */
export interface Named {
	name: string;
	filters: string;
	title?: string;
}

/** Values of a field that the server is asked for. */
export interface Values {
	kind: 'values';
	field: string;
	sought: Sought;
}

/** A place in a text, and what the server is asked for it. */
export interface Place {
	text: string;
	at: Expected;
	wants: { kind: 'saved' } | Values | null;
}

/** placeAt returns the place of the caret. */
export function placeAt(text: string, caret: number): Place {
	const at = expectedAt(text, caret);
	const name = savedAt(text, caret);
	if (isJSON(text)) return { text, at, wants: null };
	if (name) return { text, at: { ...at, from: name.from, to: caret, typed: text.slice(name.from, caret) }, wants: { kind: 'saved' } };
	return { text, at, wants: at.kind === 'value' ? { kind: 'values', field: at.field, sought: soughtOf(at) } : null };
}

/** What happens to the options of a place. */
export type Event =
	| { kind: 'opened'; fields: readonly Field[]; asked: boolean } // by typing, or because the reader asks for options
	| { kind: 'waiting'; note: string } // for a busy service
	| { kind: 'saved'; list: readonly Named[] }
	| { kind: 'values'; values: readonly Value[]; unavailable: string };

/** offered returns the options of a place after something has happened, or null if the list stays as it is. */
export function offered(place: Place, event: Event): Options | null {
	const { at } = place;
	switch (event.kind) {
		case 'opened': return place.wants?.kind === 'saved' ? null : list(place, knownAt(place, event.fields, event.asked));
		case 'waiting': return list(place, [], event.note);
		case 'saved': return list(place, savedOptions(event.list, at.typed.slice(1)));
		case 'values': return list(place, valueOptions(event.values, at), event.unavailable);
	}
}

/** knownAt returns the options that need no server. In an empty text there are none unless the reader asks for them. */
function knownAt({ text, at }: Place, fields: readonly Field[], asked: boolean): Option[] {
	if (isJSON(text)) return [];
	switch (at.kind) {
		case 'field': return text.trim() === '' && !asked ? [] : fieldOptions(fields, at.typed);
		case 'key': return keyOptions(fields, at.field, at.typed);
		case 'operator': return operatorOptions(fields, at.field, at.typed);
		case 'next': return nextOptions(at);
		case 'value': return [];
	}
}

function list({ text, at }: Place, options: readonly Option[], note = ''): Options {
	const pattern = at.kind === 'value' && at.operator.endsWith('~'); // any text may be a whole pattern
	const useless = options.length === 1 && options[0]?.insert === at.typed;
	return {
		...noOptions, options: useless ? [] : options.map((option) => ({ ...option, taken: take(text, at, option) })), note,
		touched: at.typed !== '' && !pattern,
	};
}

/** savedOptions returns the saved filters whose names have what is typed. */
function savedOptions(all: readonly Named[], typed: string): Option[] {
	return all.filter((one) => one.name.includes(typed)).slice(0, mostOptions)
		.map((one) => ({ insert: one.filters, label: `@${one.name}`, detail: one.title || one.filters }));
}
