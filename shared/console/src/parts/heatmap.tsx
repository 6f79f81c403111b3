// Heatmap: how many requests took how long, over time. The API has no such answer, so each class of times is a question of its own.
import { useMemo } from 'preact/hooks';
import type { Answer, Parameters, Routes } from '../foundation/api';
import { useAsked } from '../foundation/ask';
import { useConsole } from '../foundation/context';
import { mostSegments } from '../foundation/media';
import { presentPeriod } from '../foundation/running';
import { beginOf } from '../pure/coverage';
import { add, filtersOf } from '../pure/filter';
import { count, milliseconds } from '../pure/format';
import { periodOf } from '../pure/fragment';
import { inClass, occurring, type TimeClass, timeClasses } from '../pure/heat';
import { absolute, segmentFor } from '../pure/time';
import { Answered } from './answer';
import { words } from './lines.words';
import { type Line, LinesChart } from './lineschart';
import { partialOf } from './plot';

/** The fields with times. The origin comes first, because it never saw the blocked requests; a log may lack its times. */
const timeFields = ['upstream_response_time', 'request_time'] as const;

interface Heat {
	field: typeof timeFields[number];
	classes: readonly Answer<Routes['histogram']>[]; // as timeClasses
	filter: string;
	period: string;
}

/** Heatmap reads the question from the address, asks for the requests of each class of times, and draws them. */
export function Heatmap() {
	const { api, place, round } = useConsole();
	const asked = useAsked(api, `heatmap ${periodOf(place)} ${place.segment} ${place.filter}`, round, async (asker): Promise<Heat> => {
		const period = presentPeriod(place);
		const segment = place.segment || segmentFor(period, mostSegments() / 3); // as wide as they are high
		const askFor = async (field: Heat['field']): Promise<Heat> => {
			const questions = timeClasses.map((one): ['histogram', Parameters] =>
				['histogram', { filters: filtersOf(add(place.filter, inClass(field, one)), period), segment }]);
			await asker.afford(questions);
			const classes = await Promise.all(questions.map(([route, parameters]) => asker.ask(route, parameters)));
			return { field, classes, filter: place.filter, period: absolute(period) };
		};
		const ofOrigin = await askFor(timeFields[0]);
		const some = ofOrigin.classes.some(({ results }) => results.some(({ value }) => value > 0));
		return some ? ofOrigin : askFor(timeFields[1]);
	});
	return <Answered asked={asked} metas={(answer) => answer.classes.map(({ meta }) => meta)} part>
		{(answer) => <HeatChart answer={answer} />}
	</Answered>;
}

function HeatChart({ answer: { field, classes, filter, period } }: { answer: Heat }) {
	const meta = classes[0]?.meta;
	const length = meta?.segment_seconds ?? 60;
	const drawn = useMemo(() => {
		const times = classes[0]?.results.map((one) => one.time_period) ?? [];
		const segments = times.map((time) => ({ time_period: time }));
		const partial = meta ? partialOf({ segments, length, meta }) : () => false;
		const lines = classes.flatMap(({ results }, i): (Line & { of: TimeClass })[] => {
			const of = timeClasses[i];
			if (!of) return [];
			const condition = inClass(field, of);
			const counts = results.reduce((sum, one) => sum + one.value, 0);
			return [{
				of, name: nameOf(of), values: results.map((one, at) => (partial(at) ? null : one.value)), counts, whole: count(counts),
				counted: { filter: add(filter, condition), period }, colour: '--passed', dash: [], width: 0,
				fact: { field, value: nameOf(of), conditions: { only: condition, without: `not ${condition}` } },
			}];
		});
		return { times, lines: occurring(lines).reverse() }; // the longest times first, as on the axis
	}, [classes]);
	const heat = useMemo(() => drawn.lines.map(({ of: { from, to } }) => ({ from, to })), [drawn]);
	return <LinesChart name={field === 'request_time' ? words.names.heat : words.names.originHeat} {...drawn} length={length}
		begin={meta ? beginOf([meta]) : null} heat={heat} other={['latency', words.asLines]} />;
}

/** nameOf names a class of times: 3 ms – 10 ms. */
function nameOf({ from, to, kind }: TimeClass): string {
	if (kind === 'shorter') return words.shorter(endOf(to));
	return kind === 'longer' ? words.longer(endOf(from)) : words.between(endOf(from), endOf(to));
}

const endOf = (ms: number): string => (ms < 1000 ? milliseconds(ms) : `${ms / 1000} s`);
