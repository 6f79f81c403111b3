// What the parts of the screen of the reports share.
import type { Definition } from '../pure/schedule';

/** A report of the list. */
export interface Report extends Definition {
	name: string;
	version: number;
	etag: string;
	next: { due: string; from: string; to: string } | null;
	last_run: Run | null;
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
	deliveries: { mail?: string[]; to?: string; state: string; attempts: number; at: string | null; reason?: string }[];
}

/** pathOf is the path of the reports of a configuration, or of one of them. */
export function pathOf(config: string, name = ''): string {
	return `conf/${encodeURIComponent(config)}/reports${name === '' ? '' : `/${encodeURIComponent(name)}`}`;
}
