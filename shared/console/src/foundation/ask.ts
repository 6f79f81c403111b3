// Questions of screens: asked when the question changes, with the last answer kept until the next one is there.
import { useEffect, useLayoutEffect, useReducer, useRef } from 'preact/hooks';
import { after, type Asking, type Event, priced, type Running, unasked } from '../pure/asking';
import { splitPeriod } from '../pure/filter';
import { type Estimate, isHeavy, threshold } from '../pure/price';
import { resolve } from '../pure/time';
import {
	type Answer, type API, type Canonical, type Got, type Meta, type Parameters, type Priced, questionOf, Refusal, type Route,
	type Routes, Unreachable,
} from './api';
import { locationOf } from './running';

/** What a screen asks with. */
export interface Asker {
	/**
	 * afford stops before questions that are heavy together, until somebody runs them. Those let through count as well, and the
	 * questions are put to them if they are let through, too. One question alone is not stopped here, but asked with a ceiling, so that
	 * a light one needs one request.
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
	failures: Map<Planned, unknown>; // those that were estimated since are taken out
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

/** A question and its answer. */
export interface Asked<T> extends Asking<T> {
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

/** The heavy questions that somebody ran. They are forgotten with the page, so that a reload does not run them again. */
const affordable = new Set<string>();

export function forgetHeavy(): void {
	affordable.clear();
}

/**
 * useAsked asks a question and returns its answer. The function runs when the text of the question changes, and again
 * for each round.
 */
export function useAsked<T>(api: API, question: string, round: number, ask: (asker: Asker) => Promise<T>): Asked<T> {
	const [, redraw] = useReducer((n: number) => n + 1, 0);
	const current = useRef<Omit<Asked<T>, 'run' | 'cancel'>>({ ...unasked, questions: [], paths: [] });
	const controller = useRef<AbortController | null>(null);
	const latest = useRef(ask);
	latest.current = ask;

	const begin = (): void => {
		controller.current?.abort();
		const own = new AbortController();
		controller.current = own;
		const of: Pick<Turn, 'questions' | 'paths'> = { questions: [], paths: [] };
		const happens = (event: Event<T>): void => {
			if (controller.current !== own) return; // the answer of an earlier question
			current.current = { ...current.current, ...after(current.current, event), ...(event.kind === 'answered' ? of : {}) };
			if (current.current.state === 'asking') asking.add(current);
			else asking.delete(current);
			redraw(0);
		};
		happens({ kind: 'begun', at: Date.now() });
		const had = planned.delete(current);
		const plan = (wanted: readonly Planned[]): void => {
			if (controller.current !== own) return;
			planned.set(current, wanted);
			plansChanged();
		};
		const answered = latest.current(askerOf(api, question, { ...of, signal: own.signal, happens, plan }));
		if (had && !planned.has(current)) plansChanged();
		answered.then((answer) => happens({ kind: 'answered', answer }), (error: unknown) => {
			if (own.signal.aborted) happens({ kind: 'cancelled' });
			else if (error instanceof Held) happens({ kind: 'held', estimate: error.estimate });
			else happens({ kind: 'failed', failure: error, unreachable: error instanceof Unreachable });
		});
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

/** The routes whose questions can have a ceiling. */
const bounded: readonly string[] = ['timeline', 'stats', 'topx', 'facets', 'histogram', 'diff', 'values', 'logs', 'effect', 'whatif'];

/** isBounded reports whether a question is refused with its estimate if it would read more than it may. */
function isBounded(route: string, parameters: Parameters): boolean {
	return bounded.includes(route) && parameters['marks'] === undefined && parameters['cursor'] === undefined;
}

/** lengthIn returns the length of the period of a question. */
function lengthIn({ filters }: Parameters): number {
	const period = resolve(splitPeriod(String(filters), 0).period ?? '', 0);
	return period ? period.to - period.from : Infinity;
}

/** The price that was asked last of a question whose query has gone: several that are heavy together wait together. */
let pricing: Promise<unknown> = Promise.resolve();

/** A turn of a question: what it asks is put into the lists. */
interface Turn {
	questions: [Route, Parameters][];
	paths: string[];
	signal: AbortSignal;
	happens(event: Extract<Event<never>, { kind: 'running' | 'waiting' }>): void;
	plan(wanted: readonly Planned[]): void;
}

function askerOf(api: API, question: string, { questions, paths, signal, happens, plan }: Turn): Asker {
	const own: Estimate[] = []; // of the questions whose query has gone
	let within: Parameters | undefined; // of the question that has a ceiling in place of an estimate
	const progress = {
		running: (running: Running) => happens({ kind: 'running', running }),
		waiting: (until: number | null) => happens({ kind: 'waiting', until }),
	};
	const price = async (wanted: readonly Planned[], apart: boolean, through: Estimate[]): Promise<Unpriced> => {
		// A query that still runs since before a reload has been paid for.
		const unpaid = affordable.has(question) ? [] : wanted.filter(([route, p]) => !locationOf(questionOf(route, p)));
		if (unpaid.length === 0) return { failures: new Map(), through };
		const found = await Promise.allSettled(unpaid.map(([route, p]) => api.estimate(route, p, signal, progress)));
		signal.throwIfAborted();
		const result = priced(unpaid, found, through, apart);
		if ('failure' in result) throw result.failure;
		if ('held' in result) throw new Held(result.held);
		through.push(...result.through);
		return { failures: result.failures, through };
	};
	return {
		ask: async (route, parameters, through = own) => {
			questions.push([route, parameters]);
			const send = (most: number) => api.ask(route, parameters, signal, progress, () => {
				pricing = pricing.catch(() => undefined).then(() => price([[route, parameters]], false, through));
				return pricing;
			}, most);
			const answer = await (parameters !== within ? send(0) : send(threshold.bytes).catch((error: unknown) => {
				if (!(error instanceof Refusal && error.estimate)) throw error;
				const estimate = { ...error.estimate, length: lengthIn(parameters) };
				if (isHeavy(estimate)) throw new Held(estimate);
				return send(0); // it is not known what it reads
			}));
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
			const [only] = wanted;
			const alone = only && wanted.length === 1 && through.length === 0 && isBounded(...only);
			if (alone && !affordable.has(question) && !locationOf(questionOf(...only))) within = only[1];
			else await price(wanted, false, through);
		},
		affordParts: (wanted) => {
			plan(wanted);
			return price(wanted, true, []);
		},
	};
}
