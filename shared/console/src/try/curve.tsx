// The curve of a limit: what each threshold would do, as a picture. The threshold is a line that can be dragged.
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Tried } from '../foundation/api';
import { useConsole } from '../foundation/context';
import { brief, count } from '../pure/format';
import { harmless, heightOf, judged, labelled, loosest, type Point } from '../pure/rule';
import { sentenceOf } from './outcome';
import { words } from './try.words';

const distances = 12; // the labels of the axis have at least the 12th part of it between them

/** Curve is the picture, or a table of the same. tried is called with the threshold to which the line was moved. */
export function Curve({ id, points, threshold, action, tried }: {
	id: 'rule' | 'other'; points: readonly Point[]; threshold: number; action: Tried['action']; tried(threshold: number): void;
}) {
	const { place, go } = useConsole();
	const own = Math.max(0, points.findIndex((one) => one.threshold >= threshold));
	const [at, move] = useState(own);
	const byKeys = useRef(false);
	const point = points[at];
	const last = points.length - 1;
	const [safe, acts] = [harmless(points), loosest(points)];
	if (!point) return null;
	if (acts === null) return <p class="flat">{words.flat}</p>;
	const use = (to: number): void => {
		if (to !== threshold) tried(to);
	};
	return <figure class="curve">
		<figcaption>
			<h3>{words.curve[id]}</h3>
			<ul class="keys-of">
				<li class="people">{words.ofPeople}</li><li class="fresh">{words.fresh}</li>
			</ul>
			<span class="grow" />
			<button type="button" class="small" aria-pressed={place.table} onClick={() => go({ table: !place.table })}>
				{place.table ? words.asChart : words.asTable}</button>
		</figcaption>
		{place.table ? <CurveTable name={words.curve[id]} points={points} /> : <>
			<Picture points={points} at={at}>
				<input id={`${id}-curve`} type="range" min="0" max={last} step="1" value={at} aria-label={words.curveSlider}
					aria-valuetext={`${words.at(count(point.threshold))}${sentenceOf(point, action)}`}
					onPointerDown={() => {
						byKeys.current = false;
					}} onKeyDown={(event) => {
						byKeys.current = true;
						if (event.key === 'Enter') use(point.threshold);
					}} onInput={(event) => move(Number(event.currentTarget.value))}
					onChange={(event) => {
						const to = points[Number(event.currentTarget.value)];
						if (to && !byKeys.current) use(to.threshold);
					}} />
			</Picture>
			<p class="reading"><strong>{words.at(count(point.threshold))}</strong>{sentenceOf(point, action)}{' '}
				{at !== own && <button type="button" class="small primary" onClick={() => use(point.threshold)}>
					{words.moved(count(point.threshold))}</button>}</p>
			<p class="quiet">{words.curveHint}{' '}
				{judged(point) === 'nothing' && <>{words.loosest(count(acts))}{' '}
					<button type="button" class="small" onClick={() => use(acts)}>{words.moved(count(acts))}</button>{' '}</>}
				{safe !== null && <>{words.harmless(count(safe))}{' '}{safe !== threshold &&
					<button type="button" class="small" onClick={() => use(safe)}>{words.moved(count(safe))}</button>}</>}</p>
		</>}
	</figure>;
}

/** Picture draws the newly stopped requests and those of people, by threshold. Its axis of numbers is logarithmic. */
function Picture({ points, at, children }: { points: readonly Point[]; at: number; children: ComponentChildren }) {
	const last = Math.max(1, points.length - 1);
	const most = Math.max(...points.map((one) => one.num_of_new_requests));
	const y = (n: number): number => 100 - 100 * heightOf(n, most);
	const line = (of: (one: Point) => number): string => points.map((one, i) => `${i === 0 ? 'M' : 'L'}${i} ${y(of(one))}`).join('');
	const area = (text: string): string => `${text}V100H0Z`;
	const [fresh, people] = [line((one) => one.num_of_new_requests), line((one) => one.num_of_human_requests ?? 0)];
	const levels = new Set([0, ...[1, 10, 100, 1000, 10_000, 100_000].filter((n) => n * 2 < most), most]);
	return <div class="picture">
		<ol class="levels" aria-hidden="true">{[...levels].map((n) =>
			<li key={n} style={{ '--at': String(heightOf(n, most)) }}><span>{brief(n)}</span></li>)}</ol>
		<div class="plane">
			<svg viewBox={`0 0 ${last} 100`} preserveAspectRatio="none" aria-hidden="true">
				<path class="fresh" d={area(fresh)} /><path class="people" d={area(people)} />
				<path class="fresh line-of" d={fresh} /><path class="people line-of" d={people} />
			</svg>
			{children}
			<span class="knob" aria-hidden="true" style={{ '--at': String(at / last) }}><b>{count(points[at]?.threshold ?? 0)}</b></span>
			<ol class="thresholds" aria-hidden="true">{labelled(points, Math.ceil(last / distances)).map((i) =>
				<li key={i} style={{ '--at': String(i / last) }}>{brief(points[i]?.threshold ?? 0)}</li>)}</ol>
		</div>
	</div>;
}

function CurveTable({ name, points }: { name: string; points: readonly Point[] }) {
	const known = points.some((one) => one.num_of_human_requests !== null);
	return <div class="scroll" tabIndex={0} role="region" aria-label={name}><table class="numbers">
		<thead><tr><th scope="col">{words.thresholdColumn}</th><th scope="col">{words.requestsColumn}</th>
			{known && <th scope="col">{words.peopleColumn}</th>}<th scope="col">{words.addressesColumn}</th></tr></thead>
		<tbody>{points.map((one) => <tr key={one.threshold}>
			<th scope="row">{count(one.threshold)}</th><td>{count(one.num_of_new_requests)}</td>
			{known && <td>{one.num_of_human_requests === null ? words.unknownNumber : count(one.num_of_human_requests)}</td>}
			<td>{count(one.num_of_ip)}</td>
		</tr>)}</tbody>
	</table></div>;
}
