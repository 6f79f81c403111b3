// The filters that were asked, as the browser keeps them: for good, or until the tab is closed. Those that name sensitive fields
// are in the storage of the tab in either case.
import type { Field } from '../pure/complete';
import { divided, readRemembered, remembered, type Remembered } from '../pure/remembered';

const setting = 'orrery.filters';
const closing = 'orrery.filters.forget';

let catalogue: readonly Field[] = []; // until it is loaded, new filters are kept in the tab

/** learnFields moves the filters to where the catalogue of fields allows them. */
export function learnFields(fields: readonly Field[]): void {
	catalogue = fields;
	keep(rememberedFilters());
}

/** forgetsOnClose reports whether the filters are forgotten with the tab. */
export function forgetsOnClose(): boolean {
	return localStorage.getItem(closing) === 'on';
}

/** setForgetsOnClose moves the filters to where they are kept from now on. */
export function setForgetsOnClose(on: boolean): void {
	const list = rememberedFilters();
	if (on) localStorage.setItem(closing, 'on');
	else localStorage.removeItem(closing);
	keep(list);
}

/** rememberedFilters returns the filters, newest first. */
export function rememberedFilters(): Remembered[] {
	return [...read(localStorage), ...read(sessionStorage)].sort((a, b) => a.at - b.at).reduce<Remembered[]>(remembered, []);
}

/** rememberFilter adds a filter. The empty one is not kept. */
export function rememberFilter(filter: string, requests: number): void {
	if (filter === '') return;
	const one = { filter, at: Date.now(), requests };
	if (catalogue.length === 0) write(sessionStorage, remembered(read(sessionStorage), one));
	else keep(remembered(rememberedFilters(), one));
}

export function forgetFilters(): void {
	localStorage.removeItem(setting);
	sessionStorage.removeItem(setting);
}

function keep(list: readonly Remembered[]): void {
	const { plain, secret } = forgetsOnClose() ? { plain: [], secret: list } : divided(list, catalogue);
	write(localStorage, plain);
	write(sessionStorage, secret);
}

function read(storage: Storage): Remembered[] {
	return readRemembered(storage.getItem(setting));
}

function write(storage: Storage, list: readonly Remembered[]): void {
	if (list.length > 0) storage.setItem(setting, JSON.stringify(list));
	else storage.removeItem(setting);
}
