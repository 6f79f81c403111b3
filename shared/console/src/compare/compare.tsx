// Compare: what is different from before, or in some requests from the others.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
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
import { add, filtersOf } from '../pure/filter';
import { requests, share, times } from '../pure/format';
import { periodOf, type Place } from '../pure/fragment';
import { briefValue } from '../pure/reason';
import { requestsOf, withoutPeriod } from '../pure/sides';
import { momentIn, periodIn } from '../pure/time';
import { words } from '../texts/compare';

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

/** Sides chooses what is compared with what. */
function Sides({ wrong }: { wrong: readonly string[] }) {
	const { place, fields, go } = useConsole();
	const side = sideOf(place);
	const preset = (name: string, pressed: boolean, change: Partial<Place>) =>
		<button type="button" class="small" key={name} aria-pressed={pressed} onClick={() => go(change)}>{name}</button>;
	return <section class="sides" aria-label={words.what}>
		<div class="row"><span class="quiet">{words.what}</span>
			{Object.entries(words.presets).map(([against, name]) => preset(name, side === against, { ...noSide, against }))}
			{Object.entries(words.selects).map(([select, name]) => preset(name, place.select === select, { ...noSide, select }))}
			{preset(words.lastHour, side === '1d' && place.period === '1h', { ...noSide, against: '1d', period: '1h' })}
		</div>
		<Folded open={place.other !== '' || place.by !== null}>
			<Own id="select" name={words.own} hint={words.ownHint} value={place.select} wrong={wrong}
				use={(select) => go({ ...noSide, select })} />
			<Own id="against" name={words.ownPeriod} hint={words.ownPeriodHint} wrong={[]} value={place.against}
				shown={place.against in words.presets ? '' : place.against} use={(against) => go({ ...noSide, against })} />
			<Own id="other" name={words.ownFilter} hint={words.ownHint} value={place.other} wrong={[]}
				use={(other) => go({ ...noSide, other })} />
			<Select id="compare-by" name={words.field} value={place.by?.[0] ?? ''}
				choose={(field) => go({ by: field === '' ? null : [field] })}
				options={[['', words.allFields], ...[...new Set([
					...fields.filter((f) => f.groupable && !f.key).map((f) => f.name), ...place.by ?? [],
				])].map((name) => [name, name] as const)]} />
		</Folded>
	</section>;
}

/** Folded has the ways that are taken seldom, folded away where the window is narrow. */
function Folded({ open, children }: { open: boolean; children: ComponentChildren }) {
	const folded = useMedia(narrow);
	const row = <div class="row">{children}</div>;
	return folded ? <details class="more-sides" open={open}><summary>{words.more}</summary>{row}</details> : row;
}

/** Own is a field for a side of the reader's own. */
function Own({ id, name, hint, value, shown = value, wrong, use }: {
	id: string; name: string; hint: string; value: string; shown?: string; wrong: readonly string[]; use(text: string): void;
}) {
	const [typed, type] = useState<{ of: string; text: string } | null>(null);
	const text = typed?.of === value ? typed.text : shown;
	return <form class="field own" onSubmit={(event) => {
		event.preventDefault();
		const wanted = text.trim();
		type(null);
		if (wanted !== shown) use(wanted);
	}}>
		<label for={id}>{name}</label>
		<div class="row tight">
			<input id={id} value={text} placeholder={hint} spellcheck={false} autocomplete="off" aria-invalid={wrong.length > 0}
				aria-describedby={wrong.length > 0 ? `${id}-wrong` : undefined}
				onInput={(event) => type({ of: value, text: event.currentTarget.value })} />
			<button type="submit">{words.compare}</button>
		</div>
		{wrong.length > 0 && <small id={`${id}-wrong`} class="wrong-text">{wrong.join(' ')}</small>}
	</form>;
}

function Findings({ answer: { results, meta } }: { answer: Answer<Finding> }) {
	const { zone } = useConsole();
	const { diff } = meta;
	if (!diff) return null;
	if (diff.selected.num_of_requests + diff.baseline.num_of_requests === 0) return <Nothing meta={meta} />;
	const before = diff.baseline.except === undefined;
	const begin = before ? beginOf([meta, { ...meta, period: diff.baseline.period }]) : null;
	return <>
		<div class="two-sides">
			<OneSide name={words.selected} side={diff.selected} kind="selected" />
			<OneSide name={before ? words.baselineBefore : words.baseline} side={diff.baseline} kind="baseline" />
		</div>
		{begin !== null && <p class="warning">{words.begins(momentIn(begin, zone))}</p>}
		{diff.small && <p class="warning">{words.small}</p>}
		{results.length === 0 ? <None diff={diff} before={before} /> :
			<Table findings={results} diff={diff} before={before} />}
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
		<caption><h2>{words.findings}</h2> <small>{words.findingsHint}</small></caption>
		<thead><tr>
			<th scope="col">{words.field}</th><th scope="col">{words.value}</th><th scope="col">{words.share}</th>
			<th scope="col" class="n">{words.selected}</th><th scope="col" class="n">{before ? words.baselineBefore : words.baseline}</th>
			<th scope="col" class="n">{words.times}</th><th scope="col">{words.actions}</th>
		</tr></thead>
		{grouped(findings).map(({ group, findings: found }) => <tbody key={group}>
			<tr class="change-group"><th colSpan={7} scope="rowgroup">{words.groups[before ? 'before' : 'rest'][group]}</th></tr>
			{found.map(({ condition = null, excluded, ...one }) => <tr key={`${one.by} ${String(one.value)}`}>
				<td class="by">{one.by}</td>
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
