// The client of the API. It uses only what the OpenAPI document describes.
import type { Field } from './pure/complete';
import type { Value } from './pure/filter';
import type { Mistake } from './pure/mistakes';
import type { Estimate } from './pure/price';
import type { LogRecord } from './pure/record';

/** What an answer says about itself. */
export interface Meta {
	filter: string;
	period: { from: string; to: string };
	segment_seconds?: number;
	num_of_requests?: number;
	engine: string;
	elapsed_ms: number;
	bytes_scanned: number;
	objects?: number;
	rows_considered?: number;
	skipped?: string[];
	truncated?: { reason: 'limit' | 'bytes' };
	newest: string | null;
	complete_through: string | null;
	next?: string | null;
	estimate?: Estimate;
	cost_usd?: number;
	cached?: { age_seconds: number };
	split?: boolean;
	unavailable?: string;
}

export interface Answer<T> {
	results: T[];
	meta: Meta;
}

export interface Segment {
	time_period: number;
	num_of_requests: number;
	num_of_blocked_requests: number;
	num_of_challenges: number;
	num_of_human_requests: number;
	num_of_origin_blocked_requests: number;
	sum_of_sent_bytes: number;
}

export interface Top {
	label: string;
	key: string;
	key_truncated?: boolean;
	num_of_requests: number;
	num_of_blocked_requests: number;
	avg_origin_time: number | null;
	avg_total_time: number | null;
	max_total_time: number | null;
	max_origin_time: number | null;
	first_organization: string;
	first_geo_country: string;
}

export interface Histogram {
	value: number;
}

export interface Facet {
	by: string;
	distinct: number;
	values: { value: Value; num_of_requests: number }[];
}

/** The results of each route. */
export interface Routes {
	timeline: Segment;
	topx: Top;
	histogram: Histogram;
	facets: Facet;
	logs: LogRecord;
	values: { value: Value };
}

export type Route = keyof Routes;
export type Parameters = Readonly<Record<string, unknown>>;

/** A query that goes on after its request ended. */
export interface Running {
	location: string; // of its answer
	began: number;
}

/** What a caller learns while a request has no answer yet. */
export interface Progress {
	running(query: Running): void;
	waiting(until: number): void; // the service is busy and is asked again then
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
	) {
		super(message);
	}
}

/** No response: the server cannot be reached. */
export class Unreachable extends Error {}

const longestPause = 5; // seconds between two questions about a running query
const longestWait = 60; // seconds to wait for a busy service without asking the reader

export class API {
	constructor(readonly base: string, private readonly key: () => string) {}

	/** ask sends a question, and waits for its answer also when the query outlives its request. */
	async ask<R extends Route>(route: R, parameters: Parameters, signal: AbortSignal, progress: Progress):
		Promise<Answer<Routes[R]>> {
		const send = (): Promise<Response> => this.post(`data/${route}`, parameters, signal);
		let response = await send();
		const retry = retryAfterOf(response);
		if ((response.status === 429 || response.status === 503) && retry !== null && retry <= longestWait) {
			progress.waiting(Date.now() + retry * 1000);
			await pause(retry, signal);
			response = await send();
		}
		if (response.status === 202 || response.status === 504) {
			const location = response.headers.get('Location');
			if (location) response = await this.follow(location, retryAfterOf(response) ?? 1, signal, progress);
		}
		return answerOf<Routes[R]>(await checked(response));
	}

	/** estimate returns what a question would read and cost. */
	async estimate(route: Route, parameters: Parameters, signal: AbortSignal): Promise<Estimate | null> {
		const response = await this.post(`data/${route}`, { ...parameters, dry_run: true }, signal);
		return (await answerOf(await checked(response))).meta.estimate ?? null;
	}

	/** parse returns the canonical form of a filter, as a query string. A Refusal has its mistakes. */
	async parse(filters: string, signal: AbortSignal): Promise<string> {
		const response = await checked(await this.send('data/timeline/parse', {
			method: 'POST', body: JSON.stringify({ filters }), signal,
			headers: { 'Content-Type': 'application/json', Accept: 'text/plain' },
		}));
		return (await response.text()).trim();
	}

	/** mistakes returns what is wrong with a filter, or null if nothing is. */
	async mistakes(filters: string, signal: AbortSignal): Promise<Refusal | null> {
		const response = await this.post('data/timeline/parse', { filters }, signal);
		if (response.status !== 400) {
			await checked(response);
			return null;
		}
		return refusalOf(response, await response.text());
	}

	/** fields returns the catalogue of fields. */
	async fields(signal: AbortSignal): Promise<Field[]> {
		const response = await checked(await this.send('data/fields', { signal }));
		return ((await response.json()) as { data: { results: Field[] } }).data.results;
	}

	private post(path: string, body: Parameters, signal: AbortSignal): Promise<Response> {
		return this.send(path, {
			method: 'POST', body: JSON.stringify(body), signal, headers: { 'Content-Type': 'application/json' },
		});
	}

	/** follow waits for the answer of a query that is still running. If the question is cancelled, so is the query. */
	private async follow(location: string, seconds: number, signal: AbortSignal, progress: Progress): Promise<Response> {
		const path = 'data/' + location;
		progress.running({ location: this.base + path, began: Date.now() });
		try {
			for (;;) {
				await pause(seconds, signal);
				const response = await this.send(path, { signal });
				if (response.status !== 202) return response;
				seconds = Math.min(longestPause, Math.max(seconds * 2, retryAfterOf(response) ?? 1));
			}
		} catch (error) {
			if (signal.aborted) void this.send(path, { method: 'DELETE' }).catch(() => undefined); // its answer is not needed
			throw error;
		}
	}

	private async send(path: string, init: RequestInit): Promise<Response> {
		const headers = new Headers(init.headers);
		const key = this.key();
		if (key !== '') headers.set('Authorization', `Bearer ${key}`);
		try {
			return await fetch(this.base + path, { ...init, headers, cache: 'no-store', redirect: 'error' });
		} catch (error) {
			if (init.signal?.aborted) throw error;
			throw new Unreachable('unreachable', { cause: error });
		}
	}
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
function refusalOf(response: Response, text: string): Refusal {
	let body: { message?: string; errors?: Mistake[]; fixed_filter?: string; request_id?: string } = {};
	try {
		body = JSON.parse(text) as typeof body;
	} catch {
		body = { message: text.slice(0, 500).trim() };
	}
	const id = body.request_id ?? response.headers.get('X-Request-Id') ?? '';
	return new Refusal(response.status, body.message || response.statusText, id, body.errors ?? [],
		body.fixed_filter ?? '', retryAfterOf(response));
}

function retryAfterOf(response: Response): number | null {
	const text = response.headers.get('Retry-After');
	return text !== null && /^\d+$/.test(text) ? Number(text) : null;
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
