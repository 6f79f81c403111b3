// What every part of the page may use: where the reader is, and the ways from there.
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Field } from '../pure/complete';
import type { Fact } from '../pure/filter';
import { type Place, periodOf } from '../pure/fragment';
import type { API } from './api';

/** How the address changes: a click pushes, so that Back undoes it, what goes on by itself replaces, and so does typing, later. */
export type How = 'push' | 'replace' | 'type';

/** An item of a menu: its name, the condition that it adds, what it does. */
export type Item = readonly [string, string, () => void];

export interface Console {
	api: API;
	place: Place;
	zone: string;
	round: number; // of the question: it is asked again when this changes
	fields: readonly Field[]; // the catalogue; empty until it is loaded
	/** go changes the address. */
	go(change: Partial<Place>, how?: How): void;
	/** href is the address that go would change to. */
	href(change: Partial<Place>): string;
	/** ask asks the same question again. */
	ask(): void;
	/** choose opens the menu of a value at an element, with further items. Without a value, it has only those. */
	choose(fact: Fact | null, at: Element, more?: readonly Item[]): void;
	/** useKey sends a key with every question from now on; "" forgets it. */
	useKey(key: string): void;
	hasKey: boolean;
	/** bring opens the dialog that imports logs. */
	bring(logs: readonly File[]): void;
	/** say announces a text to screen readers and shows it for a moment, or until the next one. */
	say(text: string, stays?: boolean): void;
}

/** What the numbers of an answer count. The address may have another filter and period by now, or a period that goes on. */
export interface Counted {
	filter: string;
	period: string;
}

export const Counted = createContext<Counted | null>(null);

/** useCounted returns what the numbers of the answer around a part count. */
export function useCounted(): Counted {
	const { place } = useConsole();
	return useContext(Counted) ?? { filter: place.filter, period: periodOf(place) };
}

const context = createContext<Console | null>(null);
export const ConsoleProvider = context.Provider;

export function useConsole(): Console {
	const value = useContext(context);
	if (!value) throw new Error('no console around this part');
	return value;
}
