// Configurations: which ones there are, and the list to choose one from.
import { useState } from 'preact/hooks';
import { Refusal } from '../foundation/api';
import type { Asker } from '../foundation/ask';
import { firstConfig } from '../pure/names';
import { words } from './configurations.words';

export const nameForm = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
const mostConfigs = 20; // that are asked for

/** The names of configurations, and whether these are all that the key or the data name. */
export interface Names {
	names: string[];
	all: boolean;
}

/**
 * askConfigurations returns the configurations that the key or the data name. A key for settings alone may not ask for either.
 * Others can be opened by their names.
 */
export async function askConfigurations({ get, ask }: Pick<Asker, 'get' | 'ask'>): Promise<Names> {
	const status = await get('status').catch(orForbidden);
	if (!status) return { names: [firstConfig], all: false };
	const { key } = (JSON.parse(status.text) as { data: { key: { branches: string[] | null } | null } }).data;
	if (key?.branches) return { names: [...key.branches].sort(), all: true };
	const values = await ask('values', { field: 'branch', limit: mostConfigs }).catch(() => null); // there may be no data
	const names = (values?.results ?? []).map((one) => String(one.value)).filter((name) => nameForm.test(name));
	return { names: [...new Set([firstConfig, ...names])].sort(), all: true };
}

/** orForbidden returns null for what the key may not read. */
function orForbidden(error: unknown): null {
	if (error instanceof Refusal && error.status === 403) return null;
	throw error;
}

/** Configurations lists configurations, of which one is chosen, and opens others by their names. */
export function Configurations({ known, chosen, open }: { known: Names; chosen: string; open(config: string): void }) {
	const [name, setName] = useState('');
	const wrong = name !== '' && !nameForm.test(name);
	const names = known.names.includes(chosen) || chosen === '' ? known.names : [...known.names, chosen];
	return <nav class="configurations" aria-label={words.title}>
		<h2>{words.title}</h2>
		<ul>{names.map((one) => <li key={one}>
			<button type="button" class="choice-of" aria-current={chosen === one ? 'true' : undefined} onClick={() => open(one)}>
				{one}</button>
		</li>)}</ul>
		{!known.all && <p class="quiet">{words.notAll}</p>}
		<form onSubmit={(event) => {
			event.preventDefault();
			if (nameForm.test(name)) open(name);
		}}>
			<label for="config">{words.other}</label>
			<div class="row tight">
				<input id="config" value={name} placeholder={words.hint} autocomplete="off" spellcheck={false} aria-invalid={wrong}
					aria-describedby={wrong ? 'config-wrong' : undefined} onInput={(event) => setName(event.currentTarget.value)} />
				<button type="submit" disabled={name === '' || wrong}>{words.open}</button>
			</div>
			{wrong && <small id="config-wrong" class="wrong-text">{words.wrongName}</small>}
		</form>
	</nav>;
}
