// Compare: what is different from before, or in some requests from the others.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Answer, type Diff, type DiffSide, type Finding, type Parameters, Refusal } from '../foundation/api';
import { type Asker, useAsked } from '../foundation/ask';
import { useConsole } from '../foundation/context';
import { narrow, useMedia } from '../foundation/media';
import { presentPeriod } from '../foundation/running';
import { Answered } from '../parts/answer';
import { Nothing, Overlay } from '../parts/lazily';
import { Count, Value } from '../parts/menu';
import { Select } from '../parts/select';
import { beginOf } from '../pure/coverage';
import { grouped } from '../pure/differences';
import { add, filtersOf, splitPeriod } from '../pure/filter';
import { requests, share, times } from '../pure/format';
import { periodOf, type Place } from '../pure/fragment';
import { choices, labelOf } from '../pure/groupings';
import { briefValue } from '../pure/reason';
import { nameOf as nameOfPart } from '../pure/selection';
import { requestsOf, withoutPeriod } from '../pure/sides';
import { clockIn, dayText, lengthOf, momentIn, type Period, periodIn, presetName, resolve } from '../pure/time';
import { words } from './compare.words';

const mostFindings = 40;
const firstSide = 'previous';

/** Compare reads the two sides from the address, asks for what differs, and draws it. */
export function Compare() {
	const { api, place, round } = useConsole();
	const question = `compare ${periodOf(place)} ${sideOf(place)} ${place.by?.join() ?? ''} ${place.filter}`;
	const asked = useAsked(api, question, round, (asker) => (place.other === '' ? ask(asker, place) : Promise.resolve(null)));
	const refused = asked.failure instanceof Refusal ? asked.failure.mistakes.filter((one) => one.parameter === 'select') : [];
	return <div class="compare">
		<Sides wrong={refused.map((mistake) => mistake.message)} />
		{place.other !== '' ? <Overlay /> : <Answered asked={asked} metas={(answer) => (answer ? [answer.meta] : [])}>
			{(answer) => answer && <Findings answer={answer} />}
		</Answered>}
	</div>;
}

/** sideOf names the other side. */
function sideOf(place: Place): string {
	if (place.other !== '') return `filter ${place.other}`;
	return place.select === '' ? place.against || firstSide : `where ${place.select}`;
}

/** An address without another side. */
const noSide: Partial<Place> = { against: '', select: '', other: '' };

async function ask(asker: Asker, place: Place): Promise<Answer<Finding>> {
	const period = presentPeriod(place);
	const parameters: Parameters = {
		filters: filtersOf(place.filter, period), limit: mostFindings,
		...(place.select === '' ? { against: place.against || firstSide } : { select: place.select }),
		...(place.by ? { by: place.by } : {}),
	};
	await asker.afford([['diff', parameters]]);
	return asker.ask('diff', parameters);
}

/** A side that the reader writes. */
type Own = keyof typeof words.own;

/** ownOf names the side of the address that is none of the offered ones. */
function ownOf({ select, against, other }: Place): Own | null {
	if (other !== '') return 'other';
	if (select !== '') return select in words.selects || partIn(select) !== null ? null : 'select';
	return against === '' || against in words.presets ? null : 'against';
}

/** Sides is the sentence that says what is compared with what. Its two ends are controls. */
function Sides({ wrong }: { wrong: readonly string[] }) {
	const { place, zone, go } = useConsole();
	const folded = useMedia(narrow);
	const [written, write] = useState<{ side: Own; done: boolean } | null>(null); // what the reader wants to write
	const { select, against, other } = place;
	const own = written?.side ?? ownOf(place); // the field stays when it is done: it may have the focus
	const asked = written?.done === false ? written.side : null;
	const change = (to: Partial<Place>): void => {
		write(null);
		go(to);
	};
	// Another side keeps the requests of the first one: their conditions become conditions of the filter.
	const first = { ...noSide, filter: [place.filter, select].filter((one) => one.trim() !== '').join(', ') };
	return <section class="sides" aria-label={words.sides}>
		<div class="row">
			<Select id="compare-what" name={words.what}
				value={asked === 'select' ? 'own' : select !== '' ? `where ${select}` : `in ${periodOf(place)}`}
				choose={(side) => {
					const [kind, text] = [side.slice(0, side.indexOf(' ')), side.slice(side.indexOf(' ') + 1)];
					if (side === 'own') write({ side: 'select', done: false });
					else if (kind === 'where') change({ ...noSide, select: text });
					else change({ select: '', ...inDay(text, against, zone) });
				}} groups={[
					[words.ofPeriods, periodsFor(place, zone)],
					[words.ofRequests, [
						...Object.entries({ ...words.selects, ...(select === '' ? {} : { [select]: selectName(select, zone) }) })
							.map(([conditions, name]) => [`where ${conditions}`, name] as const),
						['own', words.own.select[0]],
					]],
				]} />
			<Select id="compare-with" name={words.with}
				value={asked === 'against' || asked === 'other' ? asked : other !== '' ? 'f2' :
					select !== '' ? 'rest' : against || firstSide}
				choose={(side) => {
					if (side === 'against' || side === 'other') write({ side, done: false });
					else if (side !== 'rest' && side !== 'f2') change({ ...first, against: side });
				}} options={[
					...(select === '' ? [] : [['rest', words.rest] as const]),
					...Object.entries({ ...words.presets, ...(against === '' ? {} : { [against]: earlierName(against, zone) }) }),
					...(other === '' ? [] : [['f2', other] as const]),
					['against', words.own.against[0]], ['other', words.own.other[0]],
				]} />
			{!folded && <Further />}
		</div>
		{own !== null && <Written key={own} of={own} value={{ select, against, other }[own]} wrong={own === 'select' ? wrong : []}
			focus={asked !== null} use={(text) => {
				write({ side: own, done: true });
				go({ ...(own === 'select' ? noSide : first), [own]: text });
			}} />}
	</section>;
}

const nameOf = (names: Readonly<Record<string, string>>, one: string): string => names[one] ?? one;

/** partIn returns the part of the period that conditions select, as a drag over a chart does, or null if they are others. */
function partIn(select: string): string | null {
	const { filter, period } = splitPeriod(select, 0);
	return filter === '' ? period : null;
}

/** selectName names the requests of the first side. */
function selectName(select: string, zone: string): string {
	const part = partIn(select);
	return part === null ? nameOf(words.selects, select) : nameOfPart(part, zone);
}

/** earlierName names the side that another period is. */
function earlierName(against: string, zone: string): string {
	const known = nameOf(words.presets, against);
	if (known !== against) return known;
	const period = lengthOf(against) === null ? resolve(against, 0) : null;
	return period ? periodIn(period, zone) : words.earlier(against);
}

/** inDay is a chosen period. Today has no whole period before it, so it is compared with the same time of yesterday. */
function inDay(text: string, against: string, zone: string): Partial<Place> {
	if (text !== 'today' && text !== 'yesterday') return { period: text };
	const period = dayText(text, zone, Date.now());
	return text === 'today' && (against === '' || against === firstSide) ? { period, against: '1d' } : { period };
}

/** periodsFor are the periods that the first control offers, and the present one. */
function periodsFor(place: Place, zone: string): (readonly [string, string])[] {
	const text = periodOf(place);
	const period = lengthOf(text) === null ? resolve(text, 0) : null;
	const offered = ['1h', '24h', '7d'].map((one) => [`in ${one}`, presetName(one)] as const);
	const days = Object.entries(words.days).map(([day, name]) => [`in ${day}`, name] as const);
	if (offered.some(([one]) => one === `in ${text}`)) return [...days, ...offered];
	const name = !period ? presetName(text) : isToday(period, zone) ? words.todayTo(clockIn(period.to, zone, 'minutes')) :
		periodIn(period, zone);
	return [[`in ${text}`, name], ...days, ...offered];
}

/** isToday reports whether a period is a part of today from its begin. */
function isToday(period: Period, zone: string): boolean {
	const today = resolve(dayText('today', zone, Date.now()), 0);
	return today?.from === period.from && period.to <= today.to;
}

/** Further are the side that is asked for most often, and the fields. A narrow window has them below the answer. */
function Further() {
	const { place, zone, fields, go } = useConsole();
	return <>
		<button type="button" class="small" onClick={() => go({ ...noSide, against: '1d', period: dayText('today', zone, Date.now()) })}>
			{words.today}</button>
		<Select id="compare-by" name={words.fields} value={place.by?.[0] ?? ''}
			choose={(field) => go({ by: field === '' ? null : [field] })}
			options={[['', words.allFields], ...choices(fields, place.by)]} />
	</>;
}

/** Written is the field for a side that the reader writes. */
function Written({ of, value, wrong, focus, use }: {
	of: Own; value: string; wrong: readonly string[]; focus: boolean; use(text: string): void;
}) {
	const [typed, type] = useState<{ of: string; text: string } | null>(null);
	const text = typed?.of === value ? typed.text : value;
	const input = useRef<HTMLInputElement>(null);
	useLayoutEffect(() => {
		if (focus) input.current?.focus();
	}, []);
	const [, name, hint] = words.own[of];
	return <form class="own" onSubmit={(event) => {
		event.preventDefault();
		const wanted = text.trim();
		type(null);
		if (wanted !== value) use(wanted);
	}}>
		<label for={of}>{name}</label>
		<input id={of} ref={input} value={text} placeholder={hint} spellcheck={false} autocomplete="off" aria-invalid={wrong.length > 0}
			aria-describedby={wrong.length > 0 ? `${of}-wrong` : undefined}
			onInput={(event) => type({ of: value, text: event.currentTarget.value })} />
		<button type="submit">{words.compare}</button>
		{wrong.length > 0 && <small id={`${of}-wrong`} class="wrong-text">{wrong.join(' ')}</small>}
	</form>;
}

function Findings({ answer: { results, meta } }: { answer: Answer<Finding> }) {
	const { zone } = useConsole();
	const folded = useMedia(narrow);
	const { diff } = meta;
	if (!diff) return null;
	if (diff.selected.num_of_requests + diff.baseline.num_of_requests === 0) return <Nothing meta={meta} />;
	const before = diff.baseline.except === undefined;
	const begin = before ? beginOf([meta, { ...meta, period: diff.baseline.period }]) : null;
	const sides = <div class="two-sides">
		<OneSide name={words.selected} side={diff.selected} kind="selected" />
		<OneSide name={before ? words.baselineBefore : words.baseline} side={diff.baseline} kind="baseline" />
	</div>;
	return <>
		{!folded && sides}
		{begin !== null && <p class="warning">{words.begins(momentIn(begin, zone))}</p>}
		{diff.small && <p class="warning">{words.small}</p>}
		{results.length === 0 ? <None diff={diff} before={before} /> : <>
			<Table findings={results} diff={diff} before={before} />
			<p class="quiet">{words.findingsHint}</p>
		</>}
		{folded && <>{sides}<div class="row further"><Further /></div></>}
		<Overlay />
	</>;
}

/** None says why no value differs, and what to do. */
function None({ diff: { selected, baseline }, before }: { diff: Diff; before: boolean }) {
	const [why, hint] = selected.num_of_requests === 0 ? words.noneSelected : baseline.num_of_requests > 0 ? words.none :
		before ? words.noneBefore : words.noneOther;
	return <section class="trouble"><p><strong>{why}</strong></p><p>{hint}</p></section>;
}

/** OneSide is the definition of a side, as the server used it. */
function OneSide({ name, side, kind }: { name: string; side: DiffSide; kind: string }) {
	const { zone } = useConsole();
	const conditions = withoutPeriod(side).filter;
	return <section class={`one-side ${kind}`}>
		<h2>{name}</h2>
		<p class="number"><OfSide side={side} n={side.num_of_requests} write={requests} /></p>
		<p class="quiet">{periodIn({ from: Date.parse(side.period.from), to: Date.parse(side.period.to) }, zone)} {zone}</p>
		{(conditions !== '' || side.except) && <p>
			<code>{conditions}</code> {side.except && <>{words.except} <code>{side.except}</code></>}
		</p>}
	</section>;
}

/** OfSide is a number of requests of a side. */
function OfSide({ side, and, ...of }: { side: DiffSide; n: number; and?: string | null; twin?: boolean; write?(n: number): string }) {
	return <Count {...requestsOf(withoutPeriod(side), and)} {...of} />;
}

function Table({ findings, diff, before }: { findings: readonly Finding[]; diff: Diff; before: boolean }) {
	const { place, go } = useConsole();
	return <table class="findings">
		<caption class="hidden"><h2>{words.findings}</h2></caption>
		<thead><tr>
			<th scope="col">{words.field}</th><th scope="col">{words.value}</th><th scope="col">{words.share}</th>
			<th scope="col" class="n">{words.selected}</th><th scope="col" class="n">{before ? words.baselineBefore : words.baseline}</th>
			<th scope="col" class="n">{words.times}</th><th scope="col">{words.actions}</th>
		</tr></thead>
		{grouped(findings).map(({ group, findings: found }) => <tbody key={group}>
			<tr class="change-group"><th colSpan={7} scope="rowgroup">{words.groups[before ? 'before' : 'rest'][group]}</th></tr>
			{found.map(({ condition = null, excluded, ...one }) => <tr key={`${one.by} ${String(one.value)}`}>
				<td class="by">{labelOf(one.by)}</td>
				<th scope="row"><Value fact={{ field: one.by, value: one.value }}>{briefValue(one.by, one.value)}</Value></th>
				<td class="shares"><Shares finding={one} diff={diff} condition={condition} /></td>
				<td class="n"><OfSide side={diff.selected} n={one.selected.num_of_requests} and={condition} /></td>
				<td class="n"><OfSide side={diff.baseline} n={one.baseline.num_of_requests} and={condition} /></td>
				<td class="n times">{timesOf(one, before)}</td>
				<td class="act">{condition !== null && excluded !== undefined && <>
					<button type="button" class="link" aria-label={words.onlyLabel(condition)}
						onClick={() => go({ filter: add(place.filter, condition) })}>{words.only}</button>
					<button type="button" class="link" aria-label={words.withoutLabel(condition)}
						onClick={() => go({ filter: add(place.filter, excluded) })}>{words.without}</button>
				</>}</td>
			</tr>)}
		</tbody>)}
	</table>;
}

/** Shares are two bars, the share on each side. */
function Shares({ finding, diff, condition }: { finding: Finding; diff: Diff; condition: string | null }) {
	return <span class="pair">{(['selected', 'baseline'] as const).map((side) => {
		const { share: part, num_of_requests: n } = finding[side];
		return <span key={side} class={`bar-of ${side}`} style={{ '--part': String(part) }}>
			<i aria-hidden="true" /><OfSide twin side={diff[side]} n={n} and={condition} write={() => share(part, 1)} />
		</span>;
	})}</span>;
}

function timesOf({ lift }: Finding, before: boolean): string {
	if (lift === null) return before ? words.newValue : words.onlyThese;
	if (lift === 0) return before ? words.gone : words.onlyOthers;
	return words.ratio(times(lift));
}
