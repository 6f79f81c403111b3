// A report as a page, drawn from its JSON. Its texts may come from requests; they are never markup.
import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { useConsole } from '../foundation/context';
import { Plot, type PlotLine } from '../parts/plot';
import { Selected, useSelection } from '../parts/selection';
import { Change } from '../parts/tile';
import { splitPeriod } from '../pure/filter';
import { brief, bytes, count, dollars, requests, seconds } from '../pure/format';
import type { Document, Figure, List, Report, Row, Run } from '../pure/reportanswer';
import { fragmentOf, secondsOf } from '../pure/reportpage';
import { selectedOf } from '../pure/selection';
import { absolute, momentIn, segmentIn, zoneOf } from '../pure/time';
import { words as page } from '../pure/words';
import { words } from './reportpage.words';

/** ReportPage draws a report. */
export function ReportPage({ document: { notices, report, run } }: { document: Document }) {
	const { verdict, period, previous, incidents, marks } = report;
	const decided = !report.chart.undecided;
	const errors = decided ? 'passed' : 'errors';
	return <article class="report-page" aria-labelledby="report-title">
		<header>
			<h2 id="report-title"><bdi>{report.title}</bdi></h2>
			<p class="quiet">{[period.text, report.tz, previous && words.comparedWith(previous.text)].filter(Boolean).join(' · ')}</p>
		</header>
		{notices.length > 0 && <section class="trouble held" aria-labelledby="report-notices">
			<h3 id="report-notices">{words.readFirst}</h3>
			<ul>{notices.map((text) => <li key={text}><bdi>{text}</bdi></li>)}</ul>
		</section>}
		<section class={`said is-${verdict.state.replace(', ', '-')}`} aria-labelledby="report-verdict">
			<h3 id="report-verdict">{words.states[verdict.state] ?? verdict.state}</h3>
			{verdict.sentences.map(({ text, link }) => <p key={text}><bdi>{text}</bdi>{' '}
				{fragmentOf(link) !== '' && <a href={fragmentOf(link)}>{words.showRequests}</a>}</p>)}
		</section>
		{incidents && incidents.length > 0 && <Part name={words.incidents}><ul class="rows-of">{incidents.map((one) => <li key={one.id}>
			<LinkOf link={one.link}>{one.sentence}</LinkOf>
			<small><bdi>{one.details}</bdi></small>
		</li>)}</ul></Part>}
		{marks && marks.length > 0 && <Part name={words.settings}><ul class="rows-of">{marks.map((one, i) => <li key={i}>
			<bdi>{one.kind === 'planet' ? words.planet(one.config ?? '', one.version ?? 0, one.by ?? '') :
				words.revision(one.before ?? '', one.after ?? '')}</bdi>
			<small>{momentIn(Date.parse(one.at), zoneOf(report))}</small>
		</li>)}</ul></Part>}
		<Figures figures={report.figures} />
		{report.chart.bars.length > 0 && <ChartOf report={report} />}
		<Lists name={report.attackers[0]?.by_blocked === false ? words.sections.clients : words.sections.attackers}
			lists={report.attackers} none={words.nothing.attackers} decided={decided} />
		<Lists name={words.sections.targets} lists={report.targets} none={words.nothing.targets} decided={decided} />
		{decided && <Lists name={words.sections.rules} lists={report.rules} none={words.nothing.rules} decided />}
		<Lists name={words.sections[errors]} lists={report.passed} none={words.nothing[errors]} decided={decided} />
		{report.template === 'traffic' && <Changes report={report} />}
		{decided && <Lists name={words.sections.wrong} lists={report.wrong} none={words.nothing.wrong} decided />}
		{decided && <Examples report={report} />}
		<Facts report={report} run={run} />
	</article>;
}

function Part({ name, children }: { name: string; children: ComponentChildren }) {
	return <section class="part" aria-label={name}><h3>{name}</h3>{children}</section>;
}

/** LinkOf is a text of a report, which leads to its requests if the report has a link. */
function LinkOf({ link, children }: { link: string | undefined; children: ComponentChildren }) {
	const to = fragmentOf(link);
	return to === '' ? <bdi>{children}</bdi> : <a href={to}><bdi>{children}</bdi></a>;
}

/** written writes a figure. */
function written({ unit }: Figure, n: number | null): string {
	if (n === null) return unit === 'seconds' ? words.none : words.unknown;
	return unit === 'seconds' ? seconds(n) : unit === 'bytes' ? bytes(n) : brief(n);
}

/** Figures are the numbers of the period. The one of the slowest requests is beside the average. */
function Figures({ figures }: { figures: readonly Figure[] }) {
	const slowest = figures.find((one) => one.id === 'p99_time');
	return <section class="tiles of-8" aria-label={words.figures}>
		{figures.filter((one) => one !== slowest && !one.absent).map((one) => <div class={`tile ${one.id}`} key={one.id}>
			<span class="name">{one.label}</span>
			<span class="number">{written(one, one.value)}</span>
			{one.id === 'average_time' && slowest && slowest.value !== null &&
				<span class="change">{words.within(written(slowest, slowest.value))}</span>}
			{one.previous !== null && <span class="change">
				{one.value !== null && !one.incomparable && <Change now={one.value} before={one.previous} names={page.changes} />}
				{words.was(written(one, one.previous))}</span>}
		</div>)}
	</section>;
}

/** ChartOf draws the bars of a report as lines, and has them as a table. */
function ChartOf({ report: { chart: { bars, step, coarse, undecided }, ...report } }: { report: Report }) {
	const { go } = useConsole();
	const [at, setAt] = useState<number | null>(null);
	const segments = useMemo(() => bars.map((bar) => ({ time_period: Date.parse(bar.from) / 1000 })), [bars]);
	const [selected, select] = useSelection(segments.map((one) => one.time_period));
	const length = secondsOf(bars);
	const period = absolute({ from: Date.parse(report.period.from), to: Date.parse(report.period.to) });
	const part = selected && segmentIn(period, segments[selected.first]?.time_period ?? 0, length * (selected.last - selected.first + 1));
	const own = { screen: 'dashboard', panel: '', filter: splitPeriod(report.filter, 0).filter } as const;
	const compared = bars.some((bar) => bar.requests_before !== null);
	const series: (PlotLine & { name: keyof typeof words.series })[] = [
		...(compared ? [{ name: 'before' as const, colour: '--before', width: 1, values: bars.map((bar) => bar.requests_before) }] : []),
		{ name: 'requests', colour: '--passed', width: 1.5, values: bars.map((bar) => bar.requests) },
		...(undecided ? [] : [
			{ name: 'blocked' as const, colour: '--blocked', width: 1.5, fill: true, values: bars.map((bar) => bar.blocked) },
		]),
	];
	const sum = (values: readonly (number | null)[]): number => values.reduce<number>((all, n) => all + (n ?? 0), 0);
	const name = words.chart(step, !undecided);
	return <Part name={name}>
		<figure class="chart">
			<figcaption><div class="legend">
				{series.map((one) => <span key={one.name} class={`key ${one.name}`}>{words.series[one.name]}{' '}
					<b>{count(at === null ? sum(one.values) : one.values[at] ?? 0)}</b></span>)}
				{at !== null && <span class="moment">{bars[at]?.label}</span>}
			</div></figcaption>
			<Plot segments={segments} length={length} height={180} series={series} zone={zoneOf(report)} at={at} onMove={setAt}
				selected={selected} onSelect={select} onZoom={(from, to) => go({ ...own, period: absolute({ from, to }) })} />
			{part && <Selected period={part} of={period} from={own} whole={selected.last - selected.first + 1 === bars.length}
				close={() => select(null)} figures={series.map(({ name, values }) => ({
					name: words.series[name], text: count(sum(selectedOf(values, selected))),
				}))} />}
		</figure>
		{coarse && <p class="quiet">{words.coarse}</p>}
		<details><summary>{words.asTable}</summary><div class="scroll" tabIndex={0} role="region" aria-label={name}>
			<table class="numbers">
				<thead><tr>
					<th scope="col">{words.begin}</th>
					{series.map(({ name }) => <th scope="col" key={name}>{words.series[name]}</th>)}
				</tr></thead>
				<tbody>{bars.map((bar, i) => <tr key={bar.from}>
					<th scope="row">{bar.label}</th>
					{series.map(({ name, values }) => <td key={name}>{values[i] == null ? '–' : count(values[i] ?? 0)}</td>)}
				</tr>)}</tbody>
			</table>
		</div></details>
	</Part>;
}

function Lists({ name, lists, none, decided }: { name: string; lists: readonly List[]; none: string; decided: boolean }) {
	const filled = lists.filter((list) => list.rows.length > 0);
	return <Part name={name}>
		{filled.length === 0 ? <p class="quiet">{none}</p> : <div class="lists">
			{filled.map((list) => <section class="list" key={list.title}><table>
				<caption><h4>{list.title}</h4></caption>
				<thead><tr>
					<th scope="col">{words.value}</th>{decided && <th scope="col">{words.blocked}</th>}<th scope="col">{words.requests}</th>
				</tr></thead>
				<tbody>{list.rows.map((row) => <RowOf key={row.key} row={row} list={list} decided={decided} />)}</tbody>
			</table></section>)}
		</div>}
	</Part>;
}

function RowOf({ row, list: { by_blocked, all }, decided }: { row: Row; list: List; decided: boolean }) {
	return <tr>
		<th scope="row" title={row.key} style={{ '--part': String((by_blocked ? row.blocked : row.requests) / all) }}>
			<LinkOf link={row.link}>{row.key}</LinkOf>{row.new && <small> {words.fresh}</small>}
		</th>
		{decided && <td class={row.blocked > 0 ? 'blocked' : ''}>{count(row.blocked)}</td>}
		<td>{count(row.requests)}</td>
	</tr>;
}

function Changes({ report: { changes, compared } }: { report: Report }) {
	return <Part name={words.changes}>
		{changes.length === 0 ? <p class="quiet">{compared ? words.noChanges : words.notCompared}</p> : <ul class="rows-of">
			{changes.map((one) => <li key={`${one.field} ${one.key}`}>
				<span>{one.field}: <LinkOf link={one.link}>{one.key}</LinkOf></span>
				<small>{words.kinds[one.kind](requests(one.requests), count(one.before))}</small>
			</li>)}
		</ul>}
	</Part>;
}

function Examples({ report: { examples } }: { report: Report }) {
	return <Part name={words.examples}>
		{examples.length === 0 ? <p class="quiet">{words.noExamples}</p> : <ul class="rows-of">{examples.map((one, i) => <li key={i}>
			<LinkOf link={one.link}>{`${one.method} ${one.target}`.trim()}</LinkOf>
			<small><bdi>{[one.status, one.local, one.ip, one.country, one.cause ?? one.reason].filter((text) => text !== '')
				.join(' · ')}</bdi></small>
		</li>)}</ul>}
	</Part>;
}

/** Facts are what the report was asked, and what it rests on. */
function Facts({ report, run }: { report: Report; run: Run }) {
	const moment = (text: string | null): string => (text === null ? words.unknown : momentIn(Date.parse(text), zoneOf(report)));
	const facts = {
		filter: <code>{report.filter}</code>,
		utc: `${report.period.from} – ${report.period.to}`,
		complete: moment(run.complete_through),
		newest: moment(run.newest),
		read: words.read(bytes(run.bytes_scanned), words.questions(run.questions),
			run.cost_usd === undefined ? '' : dollars(run.cost_usd)),
	};
	return <dl class="facts">{(Object.keys(facts) as (keyof typeof facts)[]).map((name) => <div key={name}>
		<dt>{words.facts[name]}</dt><dd><bdi>{facts[name]}</bdi></dd></div>)}</dl>;
}
