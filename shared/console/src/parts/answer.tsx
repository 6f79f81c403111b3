// What a screen shows around its answer: that it is asked, why there is none, and what the answer rests on.
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Meta, type Parameters, Refusal, type Route } from '../foundation/api';
import type { Asked } from '../foundation/ask';
import { Counted, useConsole } from '../foundation/context';
import { lazy } from '../foundation/lazy';
import { narrow, useMedia } from '../foundation/media';
import { presentOfRunning } from '../foundation/running';
import type { Running, State } from '../pure/asking';
import { beginOf } from '../pure/coverage';
import { pathAsCurl, questionAsCurl } from '../pure/curl';
import { splitPeriod } from '../pure/filter';
import { ago, bytes, dollars, milliseconds } from '../pure/format';
import { addUp, objects, priceOf } from '../pure/price';
import { clockIn, dateIn, momentIn } from '../pure/time';
import { words } from '../pure/words';
import { copy } from './menu';
import { share } from './share';

const Advised = lazy(() => import('./advised').then((m) => m.Advised));
const Fits = lazy(() => import('./advised').then((m) => m.Fits));

/** Answered shows the state of a question, then its answer. An earlier answer stays, dimmed, until the next is there. */
export function Answered<T>({ asked, metas, brief = false, part = brief, secret = false, children }: {
	asked: Asked<T>;
	metas(answer: T): readonly Meta[];
	brief?: boolean; // without the way to explain what was asked, which is about the whole page
	part?: boolean; // of a page that says elsewhere to when the data is complete
	secret?: boolean; // without copies of what was asked, which has values of sensitive fields
	children(answer: T): ComponentChildren;
}) {
	const { answer } = asked;
	return <>
		<Line asked={asked} metas={answer === null ? [] : metas(answer)} brief={brief} part={part}
			{...(secret ? { questions: [] } : { questions: asked.questions, paths: asked.paths })} />
		<Panel asked={asked} question={asked.questions[0]?.[1]}>{children}</Panel>
	</>;
}

/** Line is what an answer rests on, or that it is being asked for. What the answer cost opens with a click. */
export function Line({ asked, metas, questions, paths = [], brief = false, part = brief }: {
	asked: Asked<unknown>; metas: readonly Meta[]; questions: readonly (readonly [Route, Parameters])[]; paths?: readonly string[];
	brief?: boolean; part?: boolean;
}) {
	const copies = questions.length + paths.length > 0;
	return <div class="line">
		{(copies || metas.length > 0) && <Tools metas={metas} part={part}>
			<Cost metas={metas} />
			{copies && <CopyQuestions questions={questions} paths={paths} />}{copies && !brief && metas.length > 0 && <ExplainButton />}
		</Tools>}
		<Honesty metas={metas} part={part} />
		<Progress asked={asked} />
	</div>;
}

/** Panel is a part of a screen with the answer of a question of its own, which may be a part of another, or with why it has none. */
export function Panel<T>({ asked, of, question, name = '', children }: {
	asked: Asked<T>; of?: Asked<unknown>; name?: string; children(answer: T): ComponentChildren;
	question: Parameters | undefined; // that was answered: what the numbers of the answer count
}) {
	const { answer, state } = asked;
	const box = useRef<HTMLDivElement>(null);
	const had = box.current?.contains(document.activeElement);
	useLayoutEffect(() => { // what had the focus may not be in the new answer
		if (!had || document.activeElement !== document.body) return;
		(box.current?.querySelector<HTMLElement>('[role=grid]') ?? box.current)?.focus({ preventScroll: true });
	});
	return <>
		<Trouble asked={asked} name={name} earlier={answer !== null} />
		{answer !== null && <div class={`answer ${ageOf(state, of?.state ?? 'done')}`} aria-busy={state === 'asking'} tabIndex={-1}
			ref={box}>
			<Counted.Provider value={countedBy(question)}>{children(answer)}</Counted.Provider>
		</div>}
	</>;
}

/** countedBy returns the filter and the period of a question. */
export function countedBy(question: Parameters | undefined): Counted | null {
	const { filter, period } = splitPeriod(String(question?.['filters'] ?? ''), 0);
	return period === null ? null : { filter, period };
}

/**
 * ageOf returns the class of an answer by the states of the questions that it depends on: "stale" if the next answer is on
 * its way, "old" if there will be none until somebody asks, "" if it is the answer of the present question.
 */
export function ageOf(...states: readonly State[]): '' | 'stale' | 'old' {
	if (states.some((state) => state !== 'done' && state !== 'asking')) return 'old';
	return states.includes('asking') ? 'stale' : '';
}

/**
 * Tools are the buttons of the line, or a menu of them where the window is narrow or there is an answer. The menu of the answer of
 * a page is named by the time to which its data is complete.
 */
function Tools({ metas, part, children }: { metas: readonly Meta[]; part: boolean; children: ComponentChildren }) {
	const { zone } = useConsole();
	const folded = useMedia(narrow) || metas.length > 0;
	const whole = part ? '' : wholeOf(metas, zone);
	const box = useRef<HTMLDetailsElement>(null);
	useLayoutEffect(() => {
		const close = (event: Event): void => {
			if (box.current && !box.current.querySelector('summary')?.contains(event.target as Node)) box.current.open = false;
		};
		addEventListener('click', close);
		return () => removeEventListener('click', close);
	}, []);
	if (!folded) return <span class="row">{children}</span>;
	return <details class="chooser tools" ref={box}>
		{whole === '' ? <summary aria-label={words.tools} title={words.tools}>⋯</summary> :
			<summary class="whole" title={words.tools}><span aria-hidden="true">●</span> {whole}</summary>}
		<div class="panel">{children}</div>
	</details>;
}

/** CopyQuestions copies what was asked and read as commands of curl, with the key as a variable of the shell. */
function CopyQuestions({ questions, paths }: { questions: readonly (readonly [Route, Parameters])[]; paths: readonly string[] }) {
	const { api: { base }, say } = useConsole();
	return <button type="button" class="link quiet" title={words.copyQuestionTitle} onClick={() => copy([
		...paths.map((path) => pathAsCurl(base, path)),
		...questions.map(([route, parameters]) => questionAsCurl(base, route, parameters)),
	].join('\n'), say)}>{words.copyQuestion}</button>;
}

function ExplainButton() {
	const { place, go } = useConsole();
	const open = place.panel === 'explain';
	return <button type="button" class="link quiet" title={words.explainTitle} aria-expanded={open}
		onClick={() => go({ panel: open ? '' : 'explain' })}>{words.explain}</button>;
}

/** Progress is the sentence about a question that has no answer yet. It appears when the question takes a while. */
export function Progress({ asked }: { asked: Asked<unknown> }) {
	const asking = asked.state === 'asking';
	const now = useNow(asking);
	const console = useConsole();
	let text = asked.state !== 'cancelled' ? '' : asked.answer === null ? words.cancelled : `${words.cancelled} ${words.earlierAnswer}`;
	if (asking) {
		text = words.asking;
		if (asked.waiting !== null) text = words.busy(milliseconds(Math.max(1000, asked.waiting - now)));
		else if (asked.running) text = words.runsOn(ago(Math.max(now - asked.began, asked.running.queue)), queueIn(asked.running));
		else if (now - asked.began > 2000) text = `${words.asking} ${ago(now - asked.began)}`;
	}
	return <div class="progress" role="status">
		{text !== '' && <span class={asking ? 'late' : ''}>
			{text}
			{asking && asked.running && <button type="button" class="small" onClick={() => share(console, presentOfRunning())}>
				{words.copyAnswer}</button>}
			{asking && <button type="button" class="small" data-cancel onClick={asked.cancel}>{words.cancel}</button>}
			{!asking && <button type="button" class="small" onClick={asked.run}>{words.again}</button>}
		</span>}
	</div>;
}

/** queueIn is how long a query has waited in the queue; "" if it has not, or that is not known. */
function queueIn({ queue }: Running): string {
	return queue > 0 ? milliseconds(queue) : '';
}

/** useNow returns the time, once a second while something is going on. */
function useNow(on: boolean): number {
	const [now, setNow] = useState(Date.now);
	useEffect(() => {
		if (!on) return;
		setNow(Date.now());
		const timer = setInterval(() => setNow(Date.now()), 1000);
		return () => clearInterval(timer);
	}, [on]);
	return now;
}

/**
 * Trouble is why there is no new answer: the question waits to be run, or it failed. The name is that of a part of a screen;
 * an earlier answer may be below.
 */
export function Trouble({ asked, name = '', earlier = false }: { asked: Asked<unknown>; name?: string; earlier?: boolean }) {
	const below = earlier && <p class="quiet">{words.earlierAnswer}</p>;
	if (asked.state === 'held' && asked.estimate) {
		return <section class="trouble held" aria-label={words.held}>
			<p><strong>{nameOf(name)}{words.held}</strong> {words.heldPrice(priceOf(asked.estimate))}</p>
			{(asked.estimate.warnings ?? []).map((warning) => <p key={warning}>{warning}</p>)}
			{below}
			<span class="row"><button type="button" class="primary" onClick={asked.run}>{words.heldRun}</button>
				{asked.estimate.fits && <Fits {...asked.estimate.fits} />}</span>
		</section>;
	}
	if (asked.attempts > 0) return <Gone asked={asked} name={name} />;
	if (asked.state !== 'failed') return null;
	const failure = asked.failure;
	if (failure instanceof Refusal && failure.status === 401) return below || null; // the page asks for the key
	const forbidden = failure instanceof Refusal && failure.status === 403;
	return <section class={forbidden ? 'trouble forbidden' : 'trouble failed'} role="alert">
		<p><strong>{nameOf(name)}{sentenceOf(failure)}</strong></p>
		{failure instanceof Refusal ? failure.status !== 400 && <p>{failure.message}</p> : <p>{String(failure)}</p>}
		{failure instanceof Refusal && failure.status === 422 && <Advised message={failure.message} />}
		{failure instanceof Refusal && failure.status !== 400 && failure.requestID !== '' &&
			<p class="quiet">{words.requestID} <code>{failure.requestID}</code></p>}
		{below}
		{!(failure instanceof Refusal && failure.status === 400) &&
			<button type="button" onClick={asked.run}>{words.again}</button>}
	</section>;
}

const nameOf = (name: string): string => (name === '' ? '' : `${name}: `);

const firstPause = 2000; // milliseconds until a server that does not answer is asked again
const longestPause = 30_000;

/**
 * TroubleOf is why some parts of a screen have no new answers: what those cost that wait to be run, and the first one that failed.
 * Those that wait run together, and those that failed are asked again together.
 */
export function TroubleOf({ parts, name }: { parts: readonly Asked<unknown>[]; name: string }) {
	const troubled = parts.filter((part) => part.state === 'failed' || part.attempts > 0);
	const failed = troubled.filter((part) => part.state === 'failed');
	const first = failed[0] ?? troubled[0];
	const held = parts.filter((part) => part.state === 'held');
	const estimate = addUp(held.flatMap((part) => part.estimate ?? []));
	return <>
		{held[0] && <Trouble asked={{ ...held[0], estimate, run: () => held.forEach((part) => part.run()) }} name={name} />}
		{first && <Trouble asked={{ ...first, run: () => failed.forEach((part) => part.run()) }} name={name} />}
	</>;
}

/** Gone is the banner while the server does not answer. It asks again, each time after a longer pause, or as soon as there is a network. */
function Gone({ asked, name }: { asked: Asked<unknown>; name: string }) {
	const waits = asked.state === 'failed';
	const latest = useRef(asked.run);
	latest.current = asked.run; // of several parts, others may fail meanwhile
	const again = useMemo(() => Date.now() + Math.min(longestPause, firstPause * 2 ** (asked.attempts - 1)),
		[waits, asked.attempts, asked.began]);
	const now = useNow(waits);
	useEffect(() => {
		if (!waits) return;
		const run = (): void => latest.current();
		const timer = setTimeout(run, again - Date.now());
		addEventListener('online', run);
		return () => {
			clearTimeout(timer);
			removeEventListener('online', run);
		};
	}, [waits, again]);
	return <section class="trouble failed" role="alert">
		<p><strong>{nameOf(name)}{words.unreachable}</strong></p>
		<p aria-hidden="true">{waits ? words.againIn(milliseconds(Math.max(1000, again - now))) : words.asking}</p>
		<button type="button" disabled={!waits} onClick={asked.run}>{words.again}</button>
	</section>;
}

function sentenceOf(failure: unknown): string {
	if (!(failure instanceof Refusal)) return words.failed;
	if (failure.status === 400 && failure.mistakes.length > 0) return words.wrongFilter;
	if (failure.status === 403) return words.forbidden;
	return words.failed;
}

/**
 * wholeOf says to when the data of an answer is complete, and how much was read. If that is not known, or more than a day later than
 * the newest record, as with an old log, it gives the time of that record instead.
 */
function wholeOf(metas: readonly Meta[], zone: string): string {
	const [first] = metas;
	const complete = first?.complete_through;
	const newest = first?.newest;
	const time = complete && !(newest && Date.parse(complete) - Date.parse(newest) > 86_400_000) ? complete : newest;
	if (!time) return '';
	const ms = wholeSeconds(time);
	const at = dateIn(ms, zone) === dateIn(Date.now(), zone) ? clockIn(ms, zone, 'minutes') : momentIn(ms, zone);
	return `${words.honesty[time === complete ? 'complete' : 'newest'](at)} · ${bytes(sumOf(metas, (m) => m.bytes_scanned))}`;
}

function sumOf(metas: readonly Meta[], of: (meta: Meta) => number | undefined): number {
	return metas.reduce((total, m) => total + (of(m) ?? 0), 0);
}

/** Cost is what an answer cost. */
function Cost({ metas }: { metas: readonly Meta[] }) {
	const first = metas[0];
	if (!first) return null;
	const w = words.honesty;
	const sum = (of: (meta: Meta) => number | undefined): number => sumOf(metas, of);
	const most = (of: (meta: Meta) => number | undefined): number => Math.max(...metas.map((m) => of(m) ?? 0));
	const cost = metas.some((m) => m.cost_usd !== undefined) ? sum((m) => m.cost_usd) : null;
	const asked = sum((m) => m.questions ?? 1);
	const queue = most((m) => m.queue_ms);
	const known = metas.some((m) => m.objects !== undefined);
	const facts = [
		first.engine,
		...(asked > 1 ? [w.questions(asked)] : []),
		milliseconds(most((m) => m.elapsed_ms)) + (queue > 0 ? `, ${w.queue(milliseconds(queue))}` : ''),
		bytes(sum((m) => m.bytes_scanned)) + (known ? ` ${w.of} ${objects(most((m) => m.objects))}` : ''),
		...(cost !== null ? [dollars(cost)] : []),
		...(metas.some((m) => m.late === null) ? [w.lateUnknown] : []),
	];
	return <p class="honesty">{facts.map((fact) => <span key={fact}>{fact}</span>)}</p>;
}

/** Honesty is what an answer lacks. A part of a page leaves out what holds for all of its data. */
function Honesty({ metas, part }: { metas: readonly Meta[]; part: boolean }) {
	const { zone, bring } = useConsole();
	const w = words.honesty;
	const demo = !part && metas.some((m) => m.demo);
	const late = sumOf(metas, (m) => m.late ?? 0);
	const skipped = new Set(metas.flatMap((m) => m.skipped ?? []));
	const cached = metas.find((m) => m.cached)?.cached;
	const begin = part ? null : beginOf(metas);
	const warnings = [
		...(metas.some((m) => m.truncated?.reason === 'bytes') ? [w.truncatedBytes] : []),
		...(metas.some((m) => m.truncated?.reason === 'limit' && !m.next) ? [w.truncatedLimit] : []),
		...(cached ? [w.cached(ago(cached.age_seconds * 1000))] : []),
		...(metas.some((m) => m.split) ? [w.split] : []),
		...(late > 0 ? [w.late(late)] : []),
		...(demo ? [w.demo] : []),
	];
	if (begin === null && warnings.length + skipped.size === 0) return null;
	return <p class="honesty">
		{begin !== null && <span>{words.begins(momentIn(begin, zone))}</span>}
		{warnings.map((warning) => <span key={warning} class="warning">{warning}</span>)}
		{demo && <button type="button" class="link" onClick={() => bring([])}>{words.importLog}</button>}
		{skipped.size > 0 && <details class="warning">
			<summary>{w.skipped(skipped.size)}</summary>
			<ul>{[...skipped].map((name) => <li key={name}><code>{name}</code></li>)}</ul>
		</details>}
	</p>;
}

export function wholeSeconds(time: string): number {
	return Math.floor(Date.parse(time) / 1000) * 1000;
}

/** Quiet says that there are no requests, and since when, while Live waits for the next ones. */
export function Quiet({ meta: { newest, period } }: { meta: Meta }) {
	const { place, zone } = useConsole();
	const outside = newest !== null && Date.parse(newest) < Date.parse(period.from);
	return <p class="quiet" role="status">{outside ? words.liveQuiet(momentIn(wholeSeconds(newest), zone)) :
		place.filter === '' ? words.nothingAtAll : words.nothing}</p>;
}
