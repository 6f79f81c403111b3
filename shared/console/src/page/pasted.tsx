// What a pasted text can mean: each meaning leads to its requests, and the likely ones show some. The text stays in the memory of the tab.
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Answer, Parameters, Segment } from '../foundation/api';
import { type Asker, useAsked } from '../foundation/ask';
import { useConsole } from '../foundation/context';
import { Answered } from '../parts/answer';
import { LinkTo } from '../parts/menu';
import { ResultMark, resultFields } from '../parts/result';
import { extentOf, mostNearest, nearest } from '../pure/blame';
import { add, filtersOf } from '../pure/filter';
import { count, requests as inWords } from '../pure/format';
import { periodOf } from '../pure/fragment';
import { type Meaning, meaningsOf } from '../pure/paste';
import { shortReason } from '../pure/reason';
import { type LogRecord, pathOf, referenceOf, textOf } from '../pure/record';
import { absolute, lengthOf, momentIn, type Period, periodIn, presetName, resolve, segmentFor } from '../pure/time';
import { words } from './pasted.words';

const mostAsked = 3; // the server is asked about the first meanings
const mostShown = 3; // requests of a meaning

/** Pasted lists the meanings of a text, the likely one first. */
export function Pasted({ text, run, close, chosen, back }: {
	text: string;
	run(): void;
	close(): void;
	chosen(): void; // a meaning: the text is no longer needed
	back(): void; // to the text
}) {
	const { zone } = useConsole();
	const meanings = useMemo(() => meaningsOf(text, zone, Date.now()), [text, zone]);
	const box = useRef<HTMLElement>(null);
	useLayoutEffect(() => box.current?.querySelector<HTMLElement>('li a, .small')?.focus(), [text]);
	useEffect(() => {
		const outside = (event: Event): void => {
			if (!box.current?.parentElement?.contains(event.target as Node)) close();
		};
		addEventListener('pointerdown', outside);
		return () => removeEventListener('pointerdown', outside);
	}, []);
	return <section class="pasted" role="dialog" aria-label={words.title} ref={box} onKeyDown={(event) => {
		if (event.key !== 'Escape') return;
		event.preventDefault();
		event.stopPropagation();
		close();
		back();
	}} onClick={(event) => {
		const link = event.target instanceof Element && event.target.closest('a') !== null;
		if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) chosen(); // others open a tab
	}}>
		<div class="row between">
			<h2>{words.title}</h2>
			<button type="button" class="icon" aria-label={words.close} onClick={() => {
				close();
				back();
			}}>×</button>
		</div>
		{meanings.length === 0 ? <div class="row"><p>{words.nothing}</p>
			<button type="button" class="small" onClick={run}>{words.run}</button></div> :
			<ol>{meanings.map((one, i) => <li key={`${one.kind} ${one.filter}`}>
				{i < mostAsked ? <Sought meaning={one} /> : <Name meaning={one} />}</li>)}</ol>}
		<p class="quiet">{words.kept}</p>
	</section>;
}

/** Name is the link to the requests of a meaning, in its period or another one. */
function Name({ meaning, at }: { meaning: Meaning; at?: Period | null }) {
	const { zone } = useConsole();
	const { kind, text, filter, period } = meaning;
	const of = at ?? period;
	return <LinkTo change={{ screen: 'events', record: null, filter, ...(of ? { period: absolute(of) } : {}) }}>
		{words.kinds[kind]} {kind === 'time' ? period && periodIn(period, zone) : <code>{text}</code>}
	</LinkTo>;
}

/** What the server has of a meaning. */
interface There {
	at: Period | null; // in which the requests are, if it is not the period that was sought; null: none are
	requests: number;
	blocked: number;
	records: readonly LogRecord[];
}

/** Sought is a meaning with its requests in the period of the text, or of the page, or else with the nearest ones. */
function Sought({ meaning }: { meaning: Meaning }) {
	const { api, place, zone, round } = useConsole();
	const text = periodOf(place);
	const period = useMemo(() => meaning.period ?? resolve(text, Date.now()), [meaning, text, round]);
	const own = useMemo(() => api.inMemory(), [api]);
	const asked = useAsked(own, `${meaning.filter} ${period && absolute(period)}`, round, (asker) => ask(asker, meaning.filter, period));
	const name = meaning.period || lengthOf(text) === null ? period && periodIn(period, zone) : `the ${presetName(text)}`;
	const there = asked.answer;
	const found = (n: number, blocked: number): string => words.found(inWords(n), blocked > 0 ? count(blocked) : '');
	return <>
		<Name meaning={meaning} at={there && there.at !== period ? there.at : null} />
		<Answered asked={asked} metas={() => []} brief secret>
			{({ at, requests, blocked, records }) => <>
				<p class="quiet">
					{at !== period && `${words.none(name ?? '')} `}
					{at === null ? words.never : at === period ? `${found(requests, blocked)}, ${name}` :
						`${words.nearest(periodIn(at, zone))} ${found(requests, blocked)}.`}
				</p>
				{at && records.length > 0 && <ul>{records.map((record) => <li key={referenceOf(record)}>
					<LinkTo change={{
						screen: 'events', filter: meaning.filter, record: referenceOf(record),
						...(at === period && !meaning.period ? {} : { period: absolute(at) }),
					}}>{momentIn(Date.parse(textOf(record, 'timestamp')), zone).slice(0, 19)}</LinkTo>
					<ResultMark record={record} /> <code>{textOf(record, 'method')} {textOf(record, 'host')}{pathOf(record)}</code>{' '}
					<span class="quiet">{shortReason(textOf(record, 'reason'))}</span>
				</li>)}</ul>}
			</>}
		</Answered>
	</>;
}

async function ask(asker: Asker, filter: string, period: Period | null): Promise<There> {
	const timeline = async (of: Period, most: number): Promise<Answer<Segment>> => {
		const parameters: Parameters = { filters: filtersOf(filter, of), segment: segmentFor(of, most) };
		await asker.afford([['timeline', parameters]]);
		return asker.ask('timeline', parameters);
	};
	const sum = ({ results }: Answer<Segment>, of: 'num_of_requests' | 'num_of_blocked_requests'): number =>
		results.reduce((n, one) => n + one[of], 0);
	let at = period;
	let answer = period && await timeline(period, 10);
	let [requests, blocked] = answer ? [sum(answer, 'num_of_requests'), sum(answer, 'num_of_blocked_requests')] : [0, 0];
	if (requests === 0) {
		const data = extentOf((await asker.get('status')).text);
		if (!data || !period) return { at: null, requests, blocked, records: [] };
		answer = await timeline(data, mostNearest);
		const { results, meta } = answer;
		const stopped = results.filter((one) => one.num_of_blocked_requests > 0); // are rather what somebody asks about
		const near = nearest(stopped.length > 0 ? stopped : results, meta.segment_seconds ?? 60, period);
		if (!near) return { at: null, requests, blocked, records: [] };
		at = { from: near.from, to: near.to - 1 };
		const segment = results.find((one) => one.time_period * 1000 === near.from);
		[requests, blocked] = [near.requests, segment?.num_of_blocked_requests ?? 0];
	}
	const parameters: Parameters = {
		filters: filtersOf(blocked > 0 ? add(filter, 'blocked is true') : filter, at ?? { from: 0, to: 0 }), limit: mostShown,
		fields: ['record_ref', 'timestamp', 'method', 'host', 'path', 'reason', ...resultFields],
	};
	await asker.afford([['logs', parameters]]);
	return { at, requests, blocked, records: (await asker.ask('logs', parameters)).results };
}
