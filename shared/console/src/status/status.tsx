// Status: is the data whole and fresh, and what may this key do.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { type Asker, useAsked } from '../foundation/ask';
import { useConsole } from '../foundation/context';
import { Answered } from '../parts/answer';
import { Count } from '../parts/menu';
import { filtersOf } from '../pure/filter';
import { ago, bytes, count, dollars, milliseconds } from '../pure/format';
import { type Check, checksOf, type Hour, hourPeriod, type Installation, slotsOf, startOf, unmerged } from '../pure/installation';
import { objects } from '../pure/price';
import { absolute, momentIn } from '../pure/time';
import { words as common } from '../pure/words';
import { words } from './status.words';

/** Status asks for the status, and draws what is well, what is to do, the hours and the limits. */
export function Status() {
	const { api, round } = useConsole();
	const asked = useAsked(api, 'status', round, ask);
	return <Answered asked={asked} metas={() => []}>
		{({ status, at }) => <div class="installation">
			<Checks status={status} at={at} />
			<Hours hours={status.hours ?? []} />
			{status.extent && <Unreadable newest={Date.parse(status.extent.to)} />}
			<Allowed status={status} />
		</div>}
	</Answered>;
}

interface Answers {
	status: Installation;
	at: number; // when it was asked
}

async function ask(asker: Asker): Promise<Answers> {
	const { text } = await asker.get('status');
	return { status: (JSON.parse(text) as { data: Installation }).data, at: Date.now() };
}

const marks = { well: '✓', hint: 'i', act: '!', unknown: '?' } as const;

/** Checks are sentences about the parts of the installation, and what to do about each. */
function Checks({ status, at }: Answers) {
	const checks = checksOf(status, at);
	const inState = (state: Check['state']): number => checks.filter((check) => check.state === state).length;
	const [open, unknown] = [inState('act'), inState('unknown')];
	return <section aria-labelledby="checks-title">
		<header class="title">
			<h2 id="checks-title">{open > 0 ? words.some(open) : unknown > 0 ? words.nothingOpen : words.all}
				{unknown > 0 && ` ${words.unknown(unknown)}`}</h2>
			<small>{words.engine(status.engine, status.version)}</small>
		</header>
		<ul class="checks">{checks.map((check) => <li key={check.name} class={check.state}>
			<span class="mark-of" aria-hidden="true">{marks[check.state]}</span>
			<h3>{words.checks[check.name]} <span class="hidden">{words.states[check.state]}</span></h3>
			<p><Sentences check={check} status={status} at={at} /></p>
		</li>)}</ul>
	</section>;
}

function Sentences({ check, status, at }: Answers & { check: Check }) {
	const { zone, bring } = useConsole();
	const moment = (text: string): string => `${momentIn(Math.floor(Date.parse(text) / 1000) * 1000, zone)} ${zone}`;
	const since = (text: string): string => ago(at - Date.parse(text));
	const { extent, ingest, hours, key } = status;
	switch (check.name) {
		case 'data':
			if (!extent) return <>{words.noData} <Do>{words.noDataDo}</Do></>;
			if (extent.from === null) return <>{words.to(moment(extent.to))}</>;
			return <>{status.objects === null ? words.dataUnknown : <>
				{status.records === null ? words.recordsUnknown :
					<Records n={status.records} from={Date.parse(extent.from)} to={Date.parse(extent.to)} />}
				{words.data(objects(status.objects), bytes(status.bytes ?? 0))}
			</>} {words.from(moment(extent.from), moment(extent.to))}{' '}
				{status.kept && words.kept(status.kept.hours, moment(status.kept.from))}</>;
		case 'complete':
			if (status.complete_through === null) return <>{words.completeUnknown} <Do>{words.completeUnknownDo}</Do></>;
			return <>{words.complete(moment(status.complete_through), since(status.complete_through))}
				{check.state === 'act' && <Do>{words.completeDo}</Do>}</>;
		case 'import':
			if (!ingest) return <>{words.importUnknown}</>;
			return <>{ingest.last_source === null || ingest.last_at === null ? words.noImport :
				words.last(ingest.last_source, since(ingest.last_at))} {ingest.watching ? words.watching :
				<>{words.notWatching} <Do>{words.notWatchingDo}</Do></>}{' '}
				{status.features.includes('import-log') && <button type="button" class="small" onClick={() => bring([])}>
					{common.importLog}</button>}</>;
		case 'quarantine': {
			const { lines, newest_code: code } = ingest?.quarantined ?? { lines: null, newest_code: null };
			if (check.state === 'unknown') return <>{words.rejectedUnknown}</>;
			if (check.state === 'well') return <>{words.rejectedNone}</>;
			return <>{lines === null ? words.rejectedSome : words.rejected(lines === 1 ? '1 line' : `${count(lines)} lines`)}
				{code !== null && <> {words.rejectedNewest(code)}</>} <Do>{words.rejectedDo}</Do></>;
		}
		case 'queue':
			if (!hours) return <>{words.queueUnknown}</>;
			if (hours.length === 0) return <>{words.queueEmpty}</>;
			return check.state === 'well' ? <>{words.queueNone(hoursText(hours.length))}</> :
				<>{words.queue(count(unmerged(hours)), hoursText(hours.length))} <Do>{words.queueDo}</Do></>;
		case 'key': return key && <>{words.key(key.name)} {words.keyScopes(scopesOf(key.scopes))} {key.branches === null ?
			words.keyAll : <>{words.keyBranches(key.branches.join(', '))} {words.keyLimited}</>} {key.expires === null ?
			words.keyNever : words.keyExpires(moment(key.expires))}{check.state === 'act' && <Do>{words.keyDo}</Do>}</>;
	}
}

/** Do is what to do. What follows a colon is a command. */
function Do({ children }: { children: string }) {
	const cut = children.lastIndexOf(': ');
	const command = cut < 0 ? '' : children.slice(cut + 2);
	return <span class="do">
		{command.startsWith('orrery ') ? <>{children.slice(0, cut + 1)} <code>{command}</code></> : children}
	</span>;
}

/** Records is a number of records, which leads to those of a period. */
function Records({ n, from, to, write }: { n: number; from: number; to: number; write?(n: number): string }) {
	return <Count n={n} filter="" period={absolute({ from, to })} write={write ?? records} />;
}

const records = (n: number): string => (n === 1 ? '1 record' : `${count(n)} records`);
const hoursText = (n: number): string => (n === 1 ? 'hour' : `${count(n)} hours`);
const scopesOf = (scopes: readonly string[]): string => scopes.map((scope) => words.scopes[scope] ?? scope).join(', ');

/** Hours are a strip of bars, and the same as a table. */
function Hours({ hours }: { hours: readonly Hour[] }) {
	const { zone, go } = useConsole();
	const [table, setTable] = useState(false);
	if (hours.length === 0) return null;
	const slots = slotsOf(hours);
	const largest = Math.max(...hours.map((hour) => hour.bytes));
	const known = hours.flatMap((hour) => hour.records ?? []);
	const starts = hours.map((hour) => startOf(hour.partition));
	const show = (from: number): void => go({ screen: 'events', period: absolute(hourPeriod(from)), filter: '', record: null });
	return <figure class="hours">
		<figcaption>
			<h2>{words.hours}</h2>
			<span class="legend">
				<span class="key merged">{words.merged}</span><span class="key fresh">{words.fresh}</span>
				<span>{words.hoursSummary(count(hours.length), count(hours.length - unmerged(hours)))}
					{known.length < hours.length ? bytes(hours.reduce((sum, hour) => sum + hour.bytes, 0)) :
						<Records n={known.reduce((sum, n) => sum + n, 0)}
							from={Math.min(...starts)} to={hourPeriod(Math.max(...starts)).to} />}.
				</span>
			</span>
			<button type="button" class="small" aria-pressed={table} onClick={() => setTable(!table)}>
				{table ? words.asBars : words.asTable}</button>
		</figcaption>
		{!table ? <>
			<div class="bars" aria-hidden="true" style={{ '--n': String(slots.length) }}>
				{slots.map(({ from, hour }) => <span key={from} onClick={() => show(from)}
					class={hour === null ? 'slot' : hour.compacted ? 'slot merged' : 'slot fresh'}
					title={`${momentIn(from, zone)}: ${hour ? sizeOf(hour) : words.noHour}`}>
					<span style={{ '--height': String((hour?.bytes ?? 0) / largest) }} />
				</span>)}
			</div>
			<p class="axis" aria-hidden="true"><span>{momentIn(slots[0]?.from ?? 0, zone)}</span>
				<span>{momentIn(slots.at(-1)?.from ?? 0, zone)} {zone}</span></p>
			<p class="quiet">{words.hoursHint}</p>
		</> : <div class="scroll" tabIndex={0} role="region" aria-label={words.hours}>
			<table class="numbers">
				<thead><tr><th scope="col">{words.hour} ({zone})</th><th scope="col">{words.records}</th>
					<th scope="col">{words.objects}</th><th scope="col">{words.size}</th><th scope="col">{words.state}</th></tr></thead>
				<tbody>{hours.map((hour) => <tr key={hour.partition}>
					<th scope="row"><button type="button" class="link" onClick={() => show(startOf(hour.partition))}>
						{momentIn(startOf(hour.partition), zone)}</button></th>
					<td>{hour.records === null ? '–' :
						<Records n={hour.records} {...hourPeriod(startOf(hour.partition))} write={count} />}</td>
					<td>{count(hour.objects)}</td><td>{bytes(hour.bytes)}</td><td>{hour.compacted ? words.merged : words.fresh}</td>
				</tr>)}</tbody>
			</table>
		</div>}
	</figure>;
}

function sizeOf(hour: Hour): string {
	return [...(hour.records === null ? [] : [records(hour.records)]), objects(hour.objects), bytes(hour.bytes),
		hour.compacted ? words.merged : words.fresh].join(', ');
}

const day = 86_400_000;

/** Unreadable asks, when it is told to, which objects of the newest day cannot be read. */
function Unreadable({ newest }: { newest: number }) {
	const [wanted, setWanted] = useState(false);
	return <section class="unreadable">
		<h2>{words.unreadable}</h2>
		{wanted ? <Checked newest={newest} /> : <p>
			<button type="button" onClick={() => setWanted(true)}>{words.unreadableAsk}</button>
			<span class="quiet"> {words.unreadableHint}</span>
		</p>}
	</section>;
}

function Checked({ newest }: { newest: number }) {
	const { api, round } = useConsole();
	const parameters = { filters: filtersOf('', { from: newest - day, to: newest }), segment: '1h' };
	const asked = useAsked(api, `unreadable ${newest}`, round, async (asker) => {
		await asker.afford([['timeline', parameters]]);
		return asker.ask('timeline', parameters);
	});
	return <Answered asked={asked} metas={() => []}>
		{({ meta }) => {
			const skipped = meta.skipped ?? [];
			const price = [bytes(meta.bytes_scanned), ...(meta.cost_usd === undefined ? [] : [dollars(meta.cost_usd)])].join(', ');
			if (skipped.length === 0) return <p>✓ {words.unreadableNone(objects(meta.objects ?? 0), price)}</p>;
			return <div class="trouble held"><p><strong>{words.unreadableSome(objects(skipped.length))}</strong></p>
				<ul>{skipped.map((name) => <li key={name}><code>{name}</code></li>)}</ul><p>{words.unreadableDo}</p></div>;
		}}
	</Answered>;
}

/** Allowed are the price, the limits and the routes. */
function Allowed({ status }: { status: Installation }) {
	const { price, limits } = status;
	const rows: [string, ComponentChildren][] = [
		[words.price, price ? words.priceOf(dollars(price.usd_per_tb), bytes(price.minimum_bytes)) : words.free],
		...Object.entries(words.limits).filter(([name]) => typeof limits[name] === 'number')
			.map(([name, text]): [string, string] => [text, amount(name, Number(limits[name]))]),
		...Object.entries(limits.limit).map(([route, n]): [string, string] => [words.perRoute(route), count(n)]),
		[words.features, <span class="routes">{status.features.map((id) => <code key={id}>{id}</code>)}</span>],
	];
	return <section>
		<h2>{words.allowed}</h2>
		<dl class="facts-of">{rows.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>
	</section>;
}

function amount(name: string, n: number): string {
	if (name.endsWith('_bytes')) return bytes(n);
	return name.endsWith('_seconds') ? milliseconds(n * 1000) : count(n);
}

