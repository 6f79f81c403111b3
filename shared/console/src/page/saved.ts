// The saved filters of a configuration, which all of its users share.
import { type API, idle } from '../foundation/api';
import { askConfigurations } from '../parts/lazily';

/** A saved filter. */
export interface SavedFilter {
	name: string;
	filters: string; // canonical
	title?: string;
	etag: string;
}

const setting = 'orrery.config';

/** chosenConfig is the configuration whose filters were used last; "" if none was chosen. */
export function chosenConfig(): string {
	return localStorage.getItem(setting) ?? '';
}

export function chooseConfig(config: string): void {
	localStorage.setItem(setting, config);
}

/** configurations returns the names of the configurations. */
export async function configurations(api: API, signal: AbortSignal, progress = idle): Promise<string[]> {
	const { names } = await askConfigurations({
		get: (path) => api.get(path, signal, progress), ask: (route, parameters) => api.ask(route, parameters, signal, progress),
	});
	return names;
}

/** savedFilters returns the filters of a configuration; of the first one if none was chosen. */
export async function savedFilters(
	api: API, signal: AbortSignal, progress = idle, config = chosenConfig(),
): Promise<SavedFilter[]> {
	const name = config || (await configurations(api, signal, progress))[0] || '';
	const got = await api.get(pathOf(name), signal, progress);
	return (JSON.parse(got.text) as { filters: SavedFilter[] }).filters;
}

/** pathOf is the path of the filters of a configuration, or of one of them. */
export function pathOf(config: string, name = ''): string {
	return `conf/${encodeURIComponent(config)}/filters${name === '' ? '' : `/${name}`}`;
}
