// The key of the API. It is kept in one place, the storage of the tab, and is gone with the tab.

import { forgetFilters } from './remember';

const setting = 'orrery.key';

/** The names of drafts in the storage of the tab begin with these. */
export const draftNames = { planet: 'orrery.planet.', report: 'orrery.report.' } as const;

export function readKey(): string {
	return sessionStorage.getItem(setting) ?? '';
}

/** keepKey keeps a key as the API takes it; "" forgets it, the settings that were edited with it, and the filters that were asked. */
export function keepKey(key: string): void {
	const kept = key.trim().replace(/^bearer\s+/i, '');
	if (kept === '') {
		forgetFilters();
		sessionStorage.clear();
	} else sessionStorage.setItem(setting, kept);
}

/** guardDrafts lets the browser ask before the tab is left while it has drafts, which would be gone with it. */
export function guardDrafts(): void {
	addEventListener('beforeunload', (event) => {
		const isDraft = (name: string): boolean => Object.values(draftNames).some((begin) => name.startsWith(begin));
		if (Object.keys(sessionStorage).some(isDraft)) event.preventDefault();
	});
}
