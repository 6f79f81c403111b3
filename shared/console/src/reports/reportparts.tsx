// What the parts of the screen of the reports share.
import { orNone } from '../foundation/api';
import type { Asker } from '../foundation/ask';
import type { Definition } from '../pure/schedule';

/** A report of the list. */
export interface Report extends Definition {
	name: string;
	version: number;
	etag: string;
	next: { due: string; from: string; to: string } | null;
	last_run: Run | null;
}

/** The reports of a configuration, and where the operator allows them to be sent. */
export interface List {
	reports: Report[];
	destinations: string[];
	domains: string[];
}

/** A run: one report about one period. */
export interface Run {
	id: string;
	version: number;
	from: string;
	to: string;
	due: string;
	by?: string;
	state: string;
	reason?: string;
	verdict?: string;
	incomplete: boolean;
	partial: boolean;
	branches?: string[]; // absent: all
	kept: boolean; // its report can be read
	deliveries: { mail?: string[]; to?: string; state: string; attempts: number; at: string | null; reason?: string }[];
}

/** pathOf is the path of the reports of a configuration, or of one of them. */
export function pathOf(config: string, name = ''): string {
	return `conf/${encodeURIComponent(config)}/reports${name === '' ? '' : `/${encodeURIComponent(name)}`}`;
}

/** askList returns the reports of a configuration, or null if the server has none or the key does not see it. */
export async function askList(asker: Pick<Asker, 'get'>, config: string): Promise<List | null> {
	const got = await asker.get(pathOf(config)).catch(orNone);
	return got && JSON.parse(got.text) as List;
}
