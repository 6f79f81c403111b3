// What becomes of a question: it is asked, waits for a busy service or for a query that outlives its request, and ends.
import { addUp, type Estimate, isHeavy } from './price';

export type State = 'asking' | 'done' | 'failed' | 'held' | 'cancelled';

/** A query that outlives its request. */
export interface Running {
	queue: number; // milliseconds in the queue of the engine so far, as far as that is known
}

/** How far a question is, and the last answer. */
export interface Asking<T> {
	state: State;
	answer: T | null; // which may be of an earlier question
	failure: unknown; // if failed
	estimate: Estimate | null; // if held
	attempts: number; // without a response of the server, since the last one with a response
	began: number;
	running: Running | null; // while its query outlives its request
	waiting: number | null; // until then, for a busy service
	busy: number; // requests that wait for it
}

/** What happens to a question. */
export type Event<T> =
	| { kind: 'begun'; at: number }
	| { kind: 'running'; running: Running }
	| { kind: 'waiting'; until: number | null } // null: a request no longer waits
	| { kind: 'answered'; answer: T }
	| { kind: 'held'; estimate: Estimate }
	| { kind: 'failed'; failure: unknown; unreachable: boolean }
	| { kind: 'cancelled' };

const still = { running: null, waiting: null, busy: 0 };

export const unasked: Asking<never> = {
	state: 'asking', answer: null, failure: null, estimate: null, attempts: 0, began: 0, ...still,
};

/** after returns how far a question is after something has happened. */
export function after<T>(now: Asking<T>, event: Event<T>): Asking<T> {
	switch (event.kind) {
		case 'begun': return { ...now, ...still, state: 'asking', failure: null, estimate: null, began: event.at };
		case 'running': return { ...now, running: event.running, waiting: null };
		case 'waiting': {
			const busy = now.busy + (event.until === null ? -1 : 1);
			return { ...now, busy, waiting: event.until ?? (busy === 0 ? null : now.waiting) };
		}
		case 'answered': return { ...now, ...still, state: 'done', answer: event.answer, attempts: 0 };
		case 'held': return { ...now, ...still, state: 'held', estimate: event.estimate, attempts: 0 };
		case 'failed': return {
			...now, ...still, state: 'failed', failure: event.failure, attempts: event.unreachable ? now.attempts + 1 : 0,
		};
		case 'cancelled': return { ...now, ...still, state: 'cancelled' };
	}
}

/** together is the state of several questions at once. */
export function together<T extends Asking<unknown> & { run(): void; cancel(): void }>(asked: readonly [T, ...T[]]): T {
	const busy = asked.filter((one) => one.state === 'asking');
	return {
		...asked[0],
		state: busy.length > 0 ? 'asking' : asked.find((one) => one.state === 'cancelled')?.state ?? 'done',
		began: Math.min(...busy.map((one) => one.began)),
		running: busy.find((one) => one.running)?.running ?? null,
		waiting: busy.find((one) => one.waiting !== null)?.waiting ?? null,
		run: () => asked.filter((one) => one.state === 'cancelled').forEach((one) => one.run()),
		cancel: () => asked.forEach((one) => one.cancel()),
	};
}

/** What becomes of questions that were estimated: one failed, they are heavy together, or they are let through. */
export type Priced<Q> =
	| { failure: unknown }
	| { held: Estimate }
	| { through: readonly Estimate[]; failures: Map<Q, unknown> };

const notEstimated: Estimate = { bytes: null, wait_ms: null };

/**
 * priced decides by the estimates of questions, and those of others that were let through. Questions that do without each other
 * are let through although some have no estimate, but not if none has.
 */
export function priced<Q>(
	questions: readonly Q[], found: readonly PromiseSettledResult<Estimate>[], others: readonly Estimate[], apart: boolean,
): Priced<Q> {
	const through = found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
	const failures = new Map<Q, unknown>();
	questions.forEach((question, i) => found[i]?.status === 'rejected' && failures.set(question, found[i].reason));
	if (failures.size > 0 && (!apart || through.length === 0)) return { failure: [...failures.values()][0] };
	if (isHeavy(addUp([...others, ...through]))) return { held: addUp(failures.size > 0 ? [...through, notEstimated] : through) };
	return { through, failures };
}
