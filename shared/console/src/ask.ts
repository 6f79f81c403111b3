// Questions of screens: asked when the question changes, with the last answer kept until the next one is there.
import { useEffect, useReducer, useRef } from 'preact/hooks';
import { type Answer, type API, type Parameters, type Route, type Routes, type Running } from './api';
import { addUp, type Estimate, isHeavy } from './pure/price';

/** What a screen asks with. */
export interface Asker {
	/** afford stops before questions that are heavy together, until somebody runs them. */
	afford(questions: readonly [Route, Parameters][]): Promise<void>;
	ask<R extends Route>(route: R, parameters: Parameters): Promise<Answer<Routes[R]>>;
}

export type State = 'asking' | 'done' | 'failed' | 'held' | 'cancelled';

/** A question and its answer. */
export interface Asked<T> {
	state: State;
	answer: T | null; // the last one, which may be of an earlier question
	failure: unknown; // if failed
	estimate: Estimate | null; // if held
	began: number;
	running: Running | null; // while its query outlives its request
	waiting: number | null; // until then, for a busy service
	questions: readonly [Route, Parameters][]; // what was asked for the answer
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

type Mutable<T> = Omit<Asked<T>, 'run' | 'cancel'>;

/**
 * useAsked asks a question and returns its answer. The function runs when the text of the question changes, and again
 * for each round.
 */
export function useAsked<T>(api: API, question: string, round: number, ask: (asker: Asker) => Promise<T>): Asked<T> {
	const [, redraw] = useReducer((n: number) => n + 1, 0);
	const current = useRef<Mutable<T>>({
		state: 'asking', answer: null, failure: null, estimate: null, began: 0, running: null, waiting: null, questions: [],
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
			redraw(0);
		};
		change({ state: 'asking', failure: null, estimate: null, began: Date.now(), running: null, waiting: null });
		const questions: [Route, Parameters][] = [];
		latest.current(askerOf(api, question, questions, own.signal, change)).then(
			(answer) => change({ state: 'done', answer, questions, running: null, waiting: null }),
			(error: unknown) => {
				if (own.signal.aborted) change({ state: 'cancelled', running: null, waiting: null });
				else if (error instanceof Held) change({ state: 'held', estimate: error.estimate });
				else change({ state: 'failed', failure: error, running: null, waiting: null });
			},
		);
	};

	useEffect(() => {
		begin();
	}, [question, round]);
	useEffect(() => () => {
		const own = controller.current;
		controller.current = null; // what comes now changes nothing
		own?.abort();
	}, []);

	return {
		...current.current,
		run: () => {
			affordable.add(question);
			begin();
		},
		cancel: () => controller.current?.abort(),
	};
}

function askerOf(
	api: API, question: string, questions: [Route, Parameters][], signal: AbortSignal,
	change: (changes: { running?: Running | null; waiting?: number | null }) => void,
): Asker {
	const progress = {
		running: (running: Running) => change({ running, waiting: null }),
		waiting: (waiting: number) => change({ waiting }),
	};
	return {
		ask: (route, parameters) => {
			questions.push([route, parameters]);
			return api.ask(route, parameters, signal, progress);
		},
		afford: async (planned) => {
			if (affordable.has(question)) return;
			const estimates = await Promise.all(planned.map(([route, p]) => api.estimate(route, p, signal)));
			const estimate = addUp(estimates.filter((e): e is Estimate => e !== null));
			if (isHeavy(estimate)) throw new Held(estimate);
		},
	};
}
