// Questions of screens: asked when the question changes, with the last answer kept until the next one is there.
import { useEffect, useLayoutEffect, useReducer, useRef } from 'preact/hooks';
import { addUp, type Estimate, isHeavy } from '../pure/price';
import {
	type Answer, type API, type Canonical, type Got, type Meta, type Parameters, type Priced, questionOf, type Route, type Routes,
	type Running, Unreachable,
} from './api';
import { locationOf } from './running';

/** What a screen asks with. */
export interface Asker {
	/**
	 * afford stops before questions that are heavy together, until somebody runs them. Those let through count as well, and the
	 * questions are put to them if they are let through, too.
	 */
	afford(questions: readonly Planned[], through?: Estimate[]): Promise<void>;
	/** affordParts is afford for questions that do without each other: it stops only before those of which there is an estimate. */
	affordParts(questions: readonly Planned[]): Promise<Unpriced>;
	/** ask waits for an answer. If the query runs no more since a reload, the question is put to those let through like a new one. */
	ask<R extends Route>(route: R, parameters: Parameters, through?: Estimate[]): Promise<Answer<Routes[R]>>;
	/** get reads what is not an answer about requests. */
	get(path: string): Promise<Got>;
	canonical(filters: string, accept: 'text/plain' | 'application/json'): Promise<Canonical>;
	/** report returns a report in the form that the parameters name. */
	report(parameters: Parameters): Promise<string>;
	estimate(route: Priced, parameters: Parameters): Promise<Estimate>;
}

/** A question with its parameters. */
export type Planned = readonly [Priced, Parameters];

/** The questions of which there is no estimate, with the reasons, and the estimates of those that were let through. */
export interface Unpriced {
	failures: Map<Planned, unknown>;
	through: Estimate[];
}

/** What the parts of the page ask, or would ask, by part. */
const planned = new Map<object, readonly Planned[]>();
const watchers = new Set<() => void>();
const plansChanged = (): void => watchers.forEach((changed) => changed());

/** What the answers to questions say about themselves, by the parameters that a part made for them. */
const metas = new WeakMap<Parameters, Partial<Record<Priced, Meta>>>();

/** metaOf returns what the answer to a planned question says about itself, if there is one. */
export function metaOf([route, parameters]: Planned): Meta | undefined {
	return metas.get(parameters)?.[route];
}

/** The parts of the page that wait for an answer. */
const asking = new Set<object>();

/** isAsking reports whether any part of the page waits for an answer. */
export function isAsking(): boolean {
	return asking.size > 0;
}

/** usePlanned returns what all parts of the page ask about requests. The part is drawn again when there is an answer. */
export function usePlanned(): readonly Planned[] {
	const [, redraw] = useReducer((n: number) => n + 1, 0);
	useEffect(() => {
		const changed = (): void => redraw(0);
		watchers.add(changed);
		changed(); // they may have changed since the page was drawn
		return () => {
			watchers.delete(changed);
		};
	}, []);
	return [...new Set([...planned.values()].flat())];
}

export type State = 'asking' | 'done' | 'failed' | 'held' | 'cancelled';

/** A question and its answer. */
export interface Asked<T> {
	state: State;
	answer: T | null; // the last one, which may be of an earlier question
	failure: unknown; // if failed
	estimate: Estimate | null; // if held
	attempts: number; // without a response of the server, since the last one with a response
	began: number;
	running: Running | null; // while its query outlives its request
	waiting: number | null; // until then, for a busy service
	questions: readonly [Route, Parameters][]; // what was asked for the answer
	paths: readonly string[]; // what else of the API was read for it
	run(): void;
	cancel(): void;
}

class Held extends Error {
	constructor(readonly estimate: Estimate) {
		super('held');
	}
}

const notEstimated: Estimate = { bytes: null, wait_ms: null };

/** The heavy questions that somebody ran. They are forgotten with the page, so that a reload does not run them again. */
const affordable = new Set<string>();

export function forgetHeavy(): void {
	affordable.clear();
}

type Mutable<T> = Omit<Asked<T>, 'run' | 'cancel'>;

/**
 * useAsked asks a question and returns its answer. The function runs when the text of the question changes, and again
 * for each round.
 */
export function useAsked<T>(api: API, question: string, round: number, ask: (asker: Asker) => Promise<T>): Asked<T> {
	const [, redraw] = useReducer((n: number) => n + 1, 0);
	const current = useRef<Mutable<T>>({
		state: 'asking', answer: null, failure: null, estimate: null, attempts: 0, began: 0, running: null, waiting: null,
		questions: [], paths: [],
	});
	const controller = useRef<AbortController | null>(null);
	const latest = useRef(ask);
	latest.current = ask;

	const begin = (): void => {
		controller.current?.abort();
		const own = new AbortController();
		controller.current = own;
		const change = (changes: Partial<Mutable<T>>): void => {
			if (controller.current !== own) return; // the answer of an earlier question
			current.current = { ...current.current, ...changes };
			if (current.current.state === 'asking') asking.add(current);
			else asking.delete(current);
			redraw(0);
		};
		change({ state: 'asking', failure: null, estimate: null, began: Date.now(), running: null, waiting: null });
		const questions: [Route, Parameters][] = [];
		const paths: string[] = [];
		const had = planned.delete(current);
		const plan = (wanted: readonly Planned[]): void => {
			if (controller.current !== own) return;
			planned.set(current, wanted);
			plansChanged();
		};
		const answered = latest.current(askerOf(api, question, questions, paths, own.signal, change, plan));
		if (had && !planned.has(current)) plansChanged();
		answered.then(
			(answer) => change({ state: 'done', answer, questions, paths, attempts: 0, running: null, waiting: null }),
			(error: unknown) => {
				if (own.signal.aborted) change({ state: 'cancelled', running: null, waiting: null });
				else if (error instanceof Held) change({ state: 'held', estimate: error.estimate, attempts: 0 });
				else {
					const attempts = error instanceof Unreachable ? current.current.attempts + 1 : 0;
					change({ state: 'failed', failure: error, attempts, running: null, waiting: null });
				}
			},
		);
	};

	useLayoutEffect(() => { // so that what can be seen of the question can be cancelled
		begin();
	}, [question, round]);
	useLayoutEffect(() => () => {
		const own = controller.current;
		controller.current = null; // what comes now changes nothing
		own?.abort();
		asking.delete(current);
		if (planned.delete(current)) plansChanged();
	}, []);

	return {
		...current.current,
		run: () => {
			if (current.current.state === 'held') affordable.add(question);
			begin();
		},
		cancel: () => controller.current?.abort(),
	};
}

/** together is the state of several questions at once. */
export function together(asked: readonly Asked<unknown>[]): Asked<unknown> {
	const busy = asked.filter((one) => one.state === 'asking');
	const first = asked[0];
	if (!first) throw new Error('no questions');
	return {
		...first,
		state: busy.length > 0 ? 'asking' : asked.find((one) => one.state === 'cancelled')?.state ?? 'done',
		began: Math.min(...busy.map((one) => one.began)),
		running: busy.find((one) => one.running)?.running ?? null,
		waiting: busy.find((one) => one.waiting !== null)?.waiting ?? null,
		run: () => asked.filter((one) => one.state === 'cancelled').forEach((one) => one.run()),
		cancel: () => asked.forEach((one) => one.cancel()),
	};
}

/** The price that was asked last of a question whose query has gone: several that are heavy together wait together. */
let pricing: Promise<unknown> = Promise.resolve();

function askerOf(
	api: API, question: string, questions: [Route, Parameters][], paths: string[], signal: AbortSignal,
	change: (changes: { running?: Running | null; waiting?: number | null }) => void, plan: (wanted: readonly Planned[]) => void,
): Asker {
	const own: Estimate[] = []; // of the questions whose query has gone
	let busy = 0; // requests that wait for a busy service
	const progress = {
		running: (running: Running) => change({ running, waiting: null }),
		waiting: (until: number | null) => {
			busy += until === null ? -1 : 1;
			if (until !== null || busy === 0) change({ waiting: until });
		},
	};
	const price = async (wanted: readonly Planned[], apart: boolean, through: Estimate[]): Promise<Unpriced> => {
		const failures = new Map<Planned, unknown>();
		// A query that still runs since before a reload has been paid for.
		const unpaid = affordable.has(question) ? [] : wanted.filter(([route, p]) => !locationOf(questionOf(route, p)));
		if (unpaid.length === 0) return { failures, through };
		const found = await Promise.allSettled(unpaid.map(([route, p]) => api.estimate(route, p, signal, progress)));
		signal.throwIfAborted();
		const estimates = found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
		const failed = found.find((one) => one.status === 'rejected');
		if (failed && (!apart || estimates.length === 0)) throw failed.reason;
		if (isHeavy(addUp([...through, ...estimates]))) throw new Held(addUp(failed ? [...estimates, notEstimated] : estimates));
		through.push(...estimates);
		unpaid.forEach((question, i) => found[i]?.status === 'rejected' && failures.set(question, found[i].reason));
		return { failures, through };
	};
	return {
		ask: async (route, parameters, through = own) => {
			questions.push([route, parameters]);
			const answer = await api.ask(route, parameters, signal, progress, () => {
				pricing = pricing.catch(() => undefined).then(() => price([[route, parameters]], false, through));
				return pricing;
			});
			metas.set(parameters, { ...metas.get(parameters), [route]: answer.meta });
			plansChanged();
			return answer;
		},
		get: (path) => {
			paths.push(path);
			return api.get(path, signal, progress);
		},
		canonical: (filters, accept) => api.canonical(filters, accept, signal, progress),
		report: (parameters) => api.report(parameters, signal, progress),
		estimate: (route, parameters) => api.estimate(route, parameters, signal, progress),
		afford: async (wanted, through = []) => {
			plan(wanted);
			await price(wanted, false, through);
		},
		affordParts: (wanted) => {
			plan(wanted);
			return price(wanted, true, []);
		},
	};
}
