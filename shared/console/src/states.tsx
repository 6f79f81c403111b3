// What a screen shows around its answer: that it is asked, why there is none, and what the answer rests on.
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type Meta, type Parameters, Refusal, type Route, Unreachable } from './api';
import type { Asked } from './ask';
import { useConsole } from './context';
import { copy } from './menu';
import { questionAsCurl } from './pure/curl';
import { ago, bytes, dollars, milliseconds } from './pure/format';
import { objects, priceOf } from './pure/price';
import { absolute, momentIn } from './pure/time';
import { words } from './strings';

/** Answered shows the state of a question, then its answer. An earlier answer stays, dimmed, until the next is there. */
export function Answered<T>({ asked, metas, children }: {
	asked: Asked<T>;
	metas(answer: T): readonly Meta[];
	children(answer: T): ComponentChildren;
}) {
	const { answer, state } = asked;
	return <>
		<div class="line">
			{answer !== null && <Honesty metas={metas(answer)} />}
			{answer !== null && metas(answer).length > 0 && <CopyQuestions questions={asked.questions} />}
			<Progress asked={asked} />
		</div>
		<Trouble asked={asked} />
		{answer !== null && <div class={state === 'done' ? 'answer' : 'answer stale'} aria-busy={state === 'asking'}>
			{children(answer)}
		</div>}
	</>;
}

/** CopyQuestions copies what was asked as commands of curl, with the key as a variable of the shell. */
function CopyQuestions({ questions }: { questions: readonly [Route, Parameters][] }) {
	const { api, say } = useConsole();
	return <button type="button" class="link quiet" title={words.copyQuestionTitle} onClick={() => {
		copy(questions.map(([route, parameters]) => questionAsCurl(api.base, route, parameters)).join('\n'), say);
	}}>{words.copyQuestion}</button>;
}

/** Progress is the sentence about a question that has no answer yet. It appears when the question takes a while. */
function Progress<T>({ asked }: { asked: Asked<T> }) {
	const asking = asked.state === 'asking';
	const now = useNow(asking);
	const { say } = useConsole();
	const running = asked.running;
	let text = asked.state === 'cancelled' ? words.cancelled : '';
	if (asking) {
		text = words.asking;
		if (asked.waiting !== null) text = words.busy(milliseconds(Math.max(1000, asked.waiting - now)));
		else if (asked.running) text = words.runsOn(ago(now - asked.began));
		else if (now - asked.began > 2000) text = `${words.asking} ${ago(now - asked.began)}`;
	}
	return <div class="progress" role="status">
		{text !== '' && <span class={asking ? 'late' : ''}>
			{text}
			{asking && running && <button type="button" class="small" onClick={() => copy(running.location, say)}>
				{words.copyAnswer}</button>}
			{asking && <button type="button" class="small" data-cancel onClick={asked.cancel}>{words.cancel}</button>}
			{!asking && <button type="button" class="small" onClick={asked.run}>{words.again}</button>}
		</span>}
	</div>;
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

/** Trouble is why there is no new answer: the question waits to be run, or it failed. */
function Trouble<T>({ asked }: { asked: Asked<T> }) {
	if (asked.state === 'held' && asked.estimate) {
		return <section class="trouble held" aria-label={words.held}>
			<p><strong>{words.held}</strong> It {priceOf(asked.estimate)}.</p>
			{(asked.estimate.warnings ?? []).map((warning) => <p key={warning}>{warning}</p>)}
			<button type="button" class="primary" onClick={asked.run}>{words.heldRun}</button>
		</section>;
	}
	if (asked.state !== 'failed') return null;
	const failure = asked.failure;
	if (failure instanceof Refusal && failure.status === 401) return <KeyForm refused={failure} />;
	return <section class="trouble failed" role="alert">
		<p><strong>{sentenceOf(failure)}</strong></p>
		{failure instanceof Refusal && failure.status !== 400 && <p>{failure.message}</p>}
		{failure instanceof Refusal && failure.status !== 400 && failure.requestID !== '' &&
			<p class="quiet">{words.requestID} <code>{failure.requestID}</code></p>}
		{!(failure instanceof Refusal && failure.status === 400) &&
			<button type="button" onClick={asked.run}>{words.again}</button>}
	</section>;
}

function sentenceOf(failure: unknown): string {
	if (failure instanceof Unreachable) return words.unreachable;
	if (!(failure instanceof Refusal)) return words.failed;
	if (failure.status === 400 && failure.mistakes.length > 0) return words.wrongFilter;
	if (failure.status === 403) return words.forbidden;
	return words.failed;
}

/** KeyForm asks for the key. The question is asked again with it. */
function KeyForm({ refused }: { refused: Refusal }) {
	const { useKey, hasKey } = useConsole();
	const [hadKey] = useState(hasKey); // when the question was refused
	const [key, setKey] = useState('');
	return <form class="trouble key" onSubmit={(event) => {
		event.preventDefault();
		if (key.trim() !== '') useKey(key.trim());
	}}>
		<p><strong>{hadKey ? words.keyRefused : words.keyNeeded}</strong></p>
		<label for="key">{words.key}</label>
		<div class="row">
			<input id="key" type="password" autocomplete="off" spellcheck={false} value={key}
				onInput={(event) => setKey(event.currentTarget.value)} />
			<button type="submit" class="primary">{words.keyUse}</button>
		</div>
		<p class="quiet">{words.keyHint}</p>
		{refused.requestID !== '' && <p class="quiet">{words.requestID} <code>{refused.requestID}</code></p>}
	</form>;
}

/** Honesty is the line about an answer: what it cost, to when the data is complete, and what is missing. */
function Honesty({ metas }: { metas: readonly Meta[] }) {
	const { zone } = useConsole();
	const first = metas[0];
	if (!first) return null;
	const w = words.honesty;
	const sum = (of: (meta: Meta) => number | undefined): number => metas.reduce((total, m) => total + (of(m) ?? 0), 0);
	const most = (of: (meta: Meta) => number | undefined): number => Math.max(...metas.map((m) => of(m) ?? 0));
	const cost = metas.some((m) => m.cost_usd !== undefined) ? sum((m) => m.cost_usd) : null;
	const skipped = new Set(metas.flatMap((m) => m.skipped ?? []));
	const cached = metas.find((m) => m.cached)?.cached;
	const known = metas.some((m) => m.objects !== undefined);
	const facts = [
		first.engine,
		...(metas.length > 1 ? [w.questions(metas.length)] : []),
		milliseconds(most((m) => m.elapsed_ms)),
		bytes(sum((m) => m.bytes_scanned)) + (known ? ` ${w.of} ${objects(most((m) => m.objects))}` : ''),
		...(cost !== null ? [dollars(cost)] : []),
		...(first.complete_through ? [w.complete(momentIn(wholeSeconds(first.complete_through), zone))] :
			first.newest ? [w.newest(momentIn(wholeSeconds(first.newest), zone))] : []),
	];
	const warnings = [
		...(metas.some((m) => m.truncated?.reason === 'bytes') ? [w.truncatedBytes] : []),
		...(metas.some((m) => m.truncated?.reason === 'limit' && !m.next) ? [w.truncatedLimit] : []),
		...(cached ? [w.cached(ago(cached.age_seconds * 1000))] : []),
		...(metas.some((m) => m.split) ? [w.split] : []),
	];
	return <p class="honesty">
		{facts.map((fact) => <span key={fact}>{fact}</span>)}
		{warnings.map((warning) => <span key={warning} class="warning">{warning}</span>)}
		{skipped.size > 0 && <details class="warning">
			<summary>{w.skipped(skipped.size)}</summary>
			<ul>{[...skipped].map((name) => <li key={name}><code>{name}</code></li>)}</ul>
		</details>}
	</p>;
}

function wholeSeconds(time: string): number {
	return Math.floor(Date.parse(time) / 1000) * 1000;
}

/** Nothing says why an answer is empty, and where there are records. */
export function Nothing({ meta }: { meta: Meta }) {
	const { place, zone, go } = useConsole();
	const from = Date.parse(meta.period.from);
	const to = Date.parse(meta.period.to);
	if (meta.newest === null) {
		return <section class="trouble"><p><strong>{words.noData}</strong></p><p>{words.noDataHint}</p></section>;
	}
	const newest = Date.parse(meta.newest);
	const outside = newest < from;
	return <section class="trouble">
		<p><strong>{place.filter === '' ? words.nothingAtAll : words.nothing}</strong>
			{outside && ' ' + words.outside(momentIn(wholeSeconds(meta.newest), zone))}</p>
		<div class="row">
			{outside && <button type="button" class="primary" onClick={() => {
				const end = Math.ceil(newest / 1000) * 1000;
				go({ period: absolute({ from: end - (to - from), to: end }) });
			}}>{words.goThere}</button>}
			{place.filter !== '' && <button type="button" onClick={() => go({ filter: '' })}>{words.dropFilter}</button>}
		</div>
	</section>;
}
