// Slow: the targets that take longest.
import type { Top } from '../foundation/api';
import { factOfTop, Of } from '../parts/list';
import { Value } from '../parts/menu';
import { seconds } from '../pure/format';
import { words } from '../pure/words';

const times = ['total', 'origin', 'svc'] as const;
const mostSlow = 5; // by each of the times

/** Slow are the targets that take longest by any of the three times. */
export function Slow({ top }: { top: readonly Top[] }) {
	const slowest = (keys: readonly Top[], time: typeof times[number]): Top[] =>
		[...keys].sort((a, b) => (b[`avg_${time}_time`] ?? 0) - (a[`avg_${time}_time`] ?? 0));
	const slow = times.flatMap((time) => slowest(top.filter((one) => one.label === `${time}_time`), time).slice(0, mostSlow));
	const targets = slowest([...new Map(slow.map((one) => [one.key, one])).values()], 'total');
	const cell = (time: number | null) => <td>{time === null ? '–' : seconds(time)}</td>;
	return <section class="list slow">
		<table>
			<caption><h3>{words.lists.total_time}</h3> <small>{words.slowOrder}</small></caption>
			<thead>
				<tr>
					<th scope="col" rowSpan={2}>{words.value}</th>
					{times.map((time) => <th scope="colgroup" colSpan={2} key={time}>{words.times[time]}</th>)}
					<th scope="col" rowSpan={2}>{words.requests}</th>
				</tr>
				<tr>{times.flatMap((time) => [words.average, words.longest].map((name) =>
					<th scope="col" key={time + name}>{name}</th>))}</tr>
			</thead>
			<tbody>{targets.map((one) => <tr key={one.key}>
				<th scope="row"><Value fact={factOfTop(one)}>{one.key}</Value></th>
				{times.flatMap((time) => [cell(one[`avg_${time}_time`]), cell(one[`max_${time}_time`])])}
				<td><Of top={one} n={one.num_of_requests} /></td>
			</tr>)}</tbody>
		</table>
	</section>;
}
