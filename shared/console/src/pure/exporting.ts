// How far an export is. Pages count when they are written, so that a failed export can go on with the next one.

export type State = 'asked' | 'running' | 'done' | 'failed' | 'cancelled';

export interface Exporting {
	state: State;
	note: string; // what it waits for, or why it failed
	long: string; // what is said while a query outlives its request; "" if none does
	more: boolean; // pages are left to write
	next: string | null; // cursor of the next page; null: the first one
	events: number;
	size: number;
	skipped: number; // objects that could not be read
}

/** What happens to an export. */
export type Event =
	| { kind: 'begun' } // also when it goes on
	| { kind: 'running'; note: string } // its query outlives its request
	| { kind: 'waiting'; note: string } // for a busy service; "": no longer
	| { kind: 'written'; events: number; size: number; skipped: number; next: string | null }
	| { kind: 'closed' }
	| { kind: 'cancelled' }
	| { kind: 'failed'; note: string };

export const notBegun: Exporting = { state: 'asked', note: '', long: '', more: true, next: null, events: 0, size: 0, skipped: 0 };

/** after returns how far an export is after something has happened. */
export function after(now: Exporting, event: Event): Exporting {
	const quiet = { ...now, note: '', long: '' };
	switch (event.kind) {
		case 'begun': return { ...quiet, state: 'running' };
		case 'running': return { ...now, note: event.note, long: event.note };
		case 'waiting': return { ...now, note: event.note || now.long };
		case 'written': return {
			...quiet, more: event.next !== null, next: event.next, events: now.events + event.events, size: now.size + event.size,
			skipped: Math.max(now.skipped, event.skipped),
		};
		case 'closed': return { ...quiet, state: 'done' };
		case 'cancelled': return { ...quiet, state: 'cancelled' };
		case 'failed': return { ...quiet, state: now.state === 'asked' ? 'asked' : 'failed', note: event.note };
	}
}
