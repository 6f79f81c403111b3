// Slow: the targets for which the origin takes longest.
import type { Top } from '../foundation/api';
import { factOfTop, Of } from '../parts/list';
import { Value } from '../parts/menu';
import { seconds } from '../pure/format';
import { words } from '../pure/words';
import { words as own } from './slow.words';

/**
 * Slow are the targets with the longest average time of the origin, because a request that the gateway stops takes no time. Where the log
 * has no such times, they are those with the longest average time in all.
 */
export function Slow({ top }: { top: readonly Top[] }) {
	const by = top.some((one) => one.label === 'origin_time') ? 'origin' : 'total';
	const times = by === 'origin' ? ['origin', 'total', 'svc'] as const : ['total', 'origin', 'svc'] as const; // a phone has the first
	const average = (one: Top): number => one[`avg_${by}_time`] ?? 0;
	const targets = top.filter((one) => one.label === `${by}_time`).sort((a, b) => average(b) - average(a));
	const cell = (time: number | null) => <td>{time === null ? '–' : seconds(time)}</td>;
	return <section class="list slow">
		<table>
			<caption><h3>{words.lists.total_time}</h3> <small>{own.order[by]}</small></caption>
			<thead>
				<tr>
					<th scope="col" rowSpan={2}>{words.value}</th>
					{times.map((time) => <th scope="colgroup" colSpan={2} key={time}>{own.times[time]}</th>)}
					<th scope="col" rowSpan={2}>{words.requests}</th>
				</tr>
				<tr>{times.flatMap((time) => [own.average, own.longest].map((name) =>
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
