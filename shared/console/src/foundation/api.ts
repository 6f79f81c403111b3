// The client of the API. It uses only what the OpenAPI document describes.
import type * as answers from '../pure/answers';
import type { Running } from '../pure/asking';
import type { Field } from '../pure/complete';
import type { Mistake } from '../pure/mistakes';
import type { Estimate } from '../pure/price';
import type { LogRecord } from '../pure/record';
import { forgetLocation, keepLocation, locationOf } from './running';

export type {
	DiffMeta as Diff, DiffResult as Finding, EffectResult as Effect, Explanation,
	DiffSideMeta as DiffSide, FacetResult as Facet, StatsResult as Stat,
	IncidentResult as Incident, TimelineResult as Segment, TopXResult as Top, WhatIfResult as Tried,
} from '../pure/answers';

/** What an answer says about itself. */
export interface Meta extends answers.Meta {
	questions?: number; // of Live: how many answers it stands for
}

export interface Answer<T> {
	results: T[];
	meta: Meta;
}

/** The results of each route. */
export interface Routes {
	timeline: answers.TimelineResult;
	stats: answers.StatsResult;
	topx: answers.TopXResult;
	facets: answers.FacetResult;
	histogram: answers.HistogramResult;
	diff: answers.DiffResult;
	logs: LogRecord;
	values: answers.ValueResult;
	incidents: answers.IncidentResult;
	effect: answers.EffectResult;
	whatif: answers.WhatIfResult;
	why: answers.Explanation;
}

export type Route = keyof Routes;

/** Priced is what has an estimate: also reports, whose answers are texts. */
export type Priced = Route | 'report';
export type Parameters = Readonly<Record<string, unknown>>;

export interface Canonical {
	text: string;
	relative: string;
}

/** What a path of the API has. */
export interface Got {
	text: string;
	etag: string;
}

/** Records as a file has them. */
export interface Page {
	content: Uint8Array<ArrayBuffer>;
	next: string | null; // cursor of the next page
	skipped: number; // objects that could not be read
}

/** What a caller learns while a request has no answer yet. */
export interface Progress {
	running(query: Running): void;
	waiting(until: number | null): void; // the service is busy and is asked again then; null: it has been
}

/** Of nobody who watches. */
export const idle: Progress = { running: () => undefined, waiting: () => undefined };

/** An invalid part of a request, and its place: body, then names and indexes. */
export interface Detail {
	loc: (string | number)[];
	msg: string;
	type?: string;
}

/** An error response. */
export class Refusal extends Error {
	constructor(
		readonly status: number,
		message: string,
		readonly requestID: string,
		readonly mistakes: readonly Mistake[],
		readonly fixed: string,
		readonly retryAfter: number | null, // seconds
		readonly details: readonly Detail[] = [],
		readonly estimate: Estimate | null = null, // of a question that reads more than it may
	) {
		super(message);
	}
}

/** orNone returns null for what is not there. */
export function orNone(error: unknown): null {
	if (error instanceof Refusal && error.status === 404) return null;
	throw error;
}

/** No response, or only a part of one: the server cannot be reached. */
export class Unreachable extends Error {}

const longestPause = 5; // seconds between two questions about a running query
const longestWait = 60; // seconds to wait for a busy service without asking the reader

export class API {
	/** keyless is called with the id of a request that the server refused for want of a key, or with a key that it does not know. */
	constructor(
		readonly base: string, private readonly key: () => string, private readonly keyless: (requestID: string) => void,
		private readonly keeps = true,
	) {}

	/** inMemory is the API for questions that the storage of the tab must not have, so a reload does not find their queries again. */
	inMemory(): API {
		return new API(this.base, this.key, this.keyless, false);
	}

	/**
	 * ask sends a question, and waits for its answer also when the query outlives its request. If a query of before a reload is
	 * no longer followed, afford is called before the question is sent again. A question that would read more than most bytes is
	 * refused, with its estimate; 0: it may read anything.
	 */
	async ask<R extends Route>(
		route: R, parameters: Parameters, signal: AbortSignal, progress: Progress, afford?: () => Promise<unknown>, most = 0,
	): Promise<Answer<Routes[R]>> {
		return answerOf<Routes[R]>(await this.answered(route, parameters, signal, progress, afford, most));
	}

	/** page returns records as a file has them. The parameters have the format. */
	async page(parameters: Parameters, signal: AbortSignal, progress: Progress): Promise<Page> {
		const response = await this.answered('logs', parameters, signal, progress);
		return {
			content: new Uint8Array(await response.arrayBuffer()),
			next: response.headers.get('X-Orrery-Next') || null,
			skipped: Number(response.headers.get('X-Orrery-Skipped') ?? 0),
		};
	}

	/** answered returns the response to a question, also if the query outlives its request. */
	private async answered(
		route: Route, parameters: Parameters, signal: AbortSignal, progress: Progress, afford?: () => Promise<unknown>, most = 0,
	): Promise<Response> {
		const question = questionOf(route, parameters);
		const send = (): Promise<Response> =>
			this.post(`data/${route}`, most > 0 ? { ...parameters, max_bytes: most } : parameters, signal, progress);
		const going = locationOf(question); // since before a reload
		let response = going ? await this.follow(question, going, 0, signal, progress) : await send();
		if (going && [404, 429, 503].includes(response.status)) { // its query is no longer followed
			await afford?.();
			response = await send();
		}
		if (runsOn(response)) {
			const location = response.headers.get('Location');
			if (location) response = await this.follow(question, location, retryAfterOf(response) ?? 1, signal, progress);
			else if (ofSeveral(route, parameters)) response = await this.repeat(send, response, signal, progress);
		}
		return checked(response);
	}

	/** repeat sends a question of several queries, which go on, until it has its answer. */
	private async repeat(
		send: () => Promise<Response>, response: Response, signal: AbortSignal, progress: Progress,
	): Promise<Response> {
		progress.running({ queue: 0 });
		while (runsOn(response)) {
			await pause(retryAfterOf(response) ?? longestPause, signal);
			response = await send();
		}
		return response;
	}

	/** report returns a report in the form that the parameters name. */
	async report(parameters: Parameters, signal: AbortSignal, progress = idle): Promise<string> {
		return (await checked(await this.post('data/report', parameters, signal, progress))).text();
	}

	/** estimate returns what a question would read and cost. Of a server that has no estimates, nothing of it is known. */
	async estimate(route: Priced, parameters: Parameters, signal: AbortSignal, progress = idle): Promise<Estimate> {
		const response = await this.post(`data/${route}`, { ...parameters, dry_run: true }, signal, progress);
		const { meta: { estimate, period } } = await answerOf(await checked(response));
		return { ...(estimate ?? { bytes: null, wait_ms: null }), length: Date.parse(period.to) - Date.parse(period.from) };
	}

	/** parse returns the canonical form of a filter, as a query string. A Refusal has its mistakes. */
	async parse(filters: string, signal: AbortSignal, progress = idle): Promise<string> {
		return (await this.canonical(filters, 'text/plain', signal, progress)).text;
	}

	/** canonical returns the canonical form of a filter of a media type, and what its relative times stand for. */
	async canonical(
		filters: string, accept: 'text/plain' | 'application/json', signal: AbortSignal, progress = idle,
	): Promise<Canonical> {
		const response = await checked(await this.post('data/timeline/parse', { filters }, signal, progress, { Accept: accept }));
		return { text: (await response.text()).trim(), relative: response.headers.get('X-Orrery-Relative-Times') ?? '' };
	}

	/** mistakes returns what is wrong with a filter, or null if nothing is. */
	async mistakes(filters: string, signal: AbortSignal): Promise<Refusal | null> {
		const found = await this.check(filters, signal);
		return found instanceof Refusal ? found : null;
	}

	/** check returns what is wrong with a filter, or its canonical JSON form. */
	async check(filters: string, signal: AbortSignal): Promise<Refusal | string> {
		const response = await this.post('data/timeline/parse', { filters }, signal);
		if (response.status === 400) return refusalOf(response, await response.text());
		return (await checked(response)).text();
	}

	/** fields returns the catalogue of fields. */
	async fields(signal: AbortSignal): Promise<Field[]> {
		const response = await checked(await this.read('data/fields', { signal }));
		return ((await response.json()) as { data: { results: Field[] } }).data.results;
	}

	/** get reads something else of the API, as its JSON text and ETag. */
	async get(path: string, signal: AbortSignal, progress = idle): Promise<Got> {
		const response = await checked(await this.read(path, { signal }, progress));
		return { text: await response.text(), etag: response.headers.get('ETag') ?? '' };
	}

	/**
	 * change writes something, if what it replaces still has the ETag. "" means that there is nothing yet; with null as the ETag
	 * it replaces whatever is there.
	 */
	async change(method: 'PUT' | 'POST' | 'DELETE', path: string, body: string, etag: string | null): Promise<Got> {
		const condition: Record<string, string> = etag === null ? {} : etag === '' ? { 'If-None-Match': '*' } : { 'If-Match': etag };
		const response = await checked(await this.send(path, {
			method, headers: { ...condition, ...(body === '' ? {} : { 'Content-Type': 'application/json' }) },
			...(body === '' ? {} : { body }),
		}));
		return { text: await response.text(), etag: response.headers.get('ETag') ?? '' };
	}

	/** post sends parameters that are too long for an address. It changes nothing. */
	private post(
		path: string, body: Parameters, signal: AbortSignal, progress?: Progress, headers?: Readonly<Record<string, string>>,
	): Promise<Response> {
		return this.read(path, {
			method: 'POST', body: JSON.stringify(body), signal, headers: { 'Content-Type': 'application/json', ...headers },
		}, progress);
	}

	/** follow waits for the answer of a query that is still running. If the question is cancelled, so is the query. */
	private async follow(
		question: string, location: string, seconds: number, signal: AbortSignal, progress: Progress,
	): Promise<Response> {
		const path = 'data/' + location;
		const forget = (): void => forgetLocation(question);
		if (this.keeps) keepLocation(question, location);
		signal.addEventListener('abort', forget);
		progress.running({ queue: 0 });
		try {
			for (;;) {
				await pause(seconds, signal);
				const response = await this.read(path, { signal }, progress);
				if (response.status !== 202) {
					forget();
					return response;
				}
				progress.running({ queue: await queueOf(response) });
				seconds = Math.min(longestPause, Math.max(seconds * 2, retryAfterOf(response) ?? 1));
			}
		} catch (error) {
			if (signal.aborted) void this.send(path, { method: 'DELETE' }).catch(() => undefined); // its answer is not needed
			throw error;
		}
	}

	/** read asks a busy service again once, when it says. What changes something is never sent twice. */
	private async read(path: string, init: RequestInit & { signal: AbortSignal }, progress = idle): Promise<Response> {
		const response = await this.send(path, init);
		const retry = retryAfterOf(response);
		if ((response.status !== 429 && response.status !== 503) || retry === null || retry > longestWait) return response;
		progress.waiting(Date.now() + retry * 1000);
		try {
			await pause(retry, init.signal);
			return await this.send(path, init);
		} finally {
			progress.waiting(null);
		}
	}

	private async send(path: string, init: RequestInit): Promise<Response> {
		const headers = new Headers(init.headers);
		const key = this.key();
		if (key !== '') headers.set('Authorization', `Bearer ${key}`);
		try {
			const response = await fetch(this.base + path, { ...init, headers, cache: 'no-store', redirect: 'error' });
			// Its end may not arrive.
			const whole = new Response(response.status === 204 ? null : await response.arrayBuffer(), response);
			if (whole.status === 401 && key === this.key()) this.keyless(whole.headers.get('X-Request-Id') ?? '');
			return whole;
		} catch (error) {
			if (init.signal?.aborted) throw error;
			throw new Unreachable('unreachable', { cause: error });
		}
	}
}

/** questionOf is the text of a question, by which its query is found again after a reload. */
export function questionOf(route: Priced, parameters: Parameters): string {
	return `${route} ${JSON.stringify(parameters)}`;
}

async function checked(response: Response): Promise<Response> {
	if (response.ok) return response;
	throw refusalOf(response, await response.text());
}

async function answerOf<T>(response: Response): Promise<Answer<T>> {
	const { data, meta } = (await response.json()) as { data: { results: T[] }; meta: Meta };
	return { results: data.results, meta };
}

/** refusalOf reads an error response. A proxy may send one that is not the API's. */
export function refusalOf(response: Response, text: string): Refusal {
	let body: {
		message?: string; errors?: Mistake[]; fixed_filter?: string; request_id?: string; detail?: Detail[]; estimate?: Estimate;
		fits?: NonNullable<Estimate['fits']>;
	} = {};
	try {
		body = JSON.parse(text) as typeof body;
	} catch {
		body = { message: text.slice(0, 500).trim() };
	}
	const id = body.request_id ?? response.headers.get('X-Request-Id') ?? '';
	return new Refusal(response.status, body.message || response.statusText, id, body.errors ?? [],
		body.fixed_filter ?? '', retryAfterOf(response), body.detail ?? [],
		body.estimate ? { ...body.estimate, ...(body.fits ? { fits: body.fits } : {}) } : null);
}

/** ofSeveral reports whether a question has several queries, whose answers have no place of their own. */
function ofSeveral(route: Route, parameters: Parameters): boolean {
	return route === 'incidents' || route === 'effect' || route === 'whatif' || parameters['marks'] === true;
}

/** runsOn reports whether a query takes longer than its request may. */
function runsOn({ status }: Response): boolean {
	return status === 202 || status === 504;
}

function retryAfterOf(response: Response): number | null {
	const text = response.headers.get('Retry-After');
	return text !== null && /^\d+$/.test(text) ? Number(text) : null;
}

/** queueOf reads how long a query that still runs has waited in the queue of the engine. Not every engine knows it. */
async function queueOf(response: Response): Promise<number> {
	try {
		return ((await response.json()) as { queue_ms?: number }).queue_ms ?? 0;
	} catch {
		return 0; // of a proxy
	}
}

function pause(seconds: number, signal: AbortSignal): Promise<void> {
	return new Promise((resolve, reject) => {
		const timer = setTimeout(resolve, seconds * 1000);
		signal.addEventListener('abort', () => {
			clearTimeout(timer);
			reject(signal.reason as Error);
		}, { once: true });
	});
}
