// The top keys of a label, as a table.
import type { Top } from '../foundation/api';
import { useCounted } from '../foundation/context';
import { agentsOf } from '../pure/agent';
import { add, addOnly, type Fact } from '../pure/filter';
import { briefValue } from '../pure/reason';
import { words } from '../pure/words';
import { Count, Share, Value } from './menu';
import { conditionOf } from './tile';

export type ListName = keyof typeof words.lists;

/** A value with its requests. */
export type Key = Pick<Top, 'key' | 'key_truncated' | 'num_of_requests' | 'num_of_blocked_requests'> & { label: string };

/** factOfTop returns the field and value of a top key. The keys of times are targets. */
export function factOfTop(top: Key): Fact {
	if (top.label.endsWith('_time')) return { field: 'url', value: top.key };
	if (top.label === 'reason' && top.key.startsWith('Monitor')) return { field: 'monitor_reasons', value: top.key };
	return { field: top.label, value: top.key };
}

/** What the values of a list are ranked by, and the number of these requests in all. */
export interface Rank {
	by: 'blocked' | 'requests';
	all: number;
}

/**
 * List is a table of the top keys of a label, with their shares of what ranks them. Without decisions of a gateway, it does not
 * say how many requests were blocked.
 */
export function List({ name, keys, rank, decided }: { name: ListName; keys: readonly Key[]; rank: Rank; decided: boolean }) {
	const blocked = rank.by === 'blocked';
	const ranked = (top: Key): number => (blocked ? top.num_of_blocked_requests : top.num_of_requests);
	const texts = keys.map(({ key }) => briefValue(name, key));
	const written = name === 'user_agent' ? agentsOf(texts) : texts;
	return <section class="list">
		<table>
			<caption><h3>{words.lists[name]}</h3></caption>
			<thead><tr>
				<th scope="col">{words.value}</th>{decided && <th scope="col">{words.blocked}</th>}
				<th scope="col">{words.requests}</th><th scope="col">{words.ofRank[rank.by]}</th>
			</tr></thead>
			<tbody>{keys.map((top, i) => <tr key={`${top.label} ${top.key}`}>
				<th scope="row" style={{ '--part': String(ranked(top) / rank.all) }}>
					{top.key_truncated ? <span class="text" title={top.key}>{top.key}</span> :
						<Value fact={factOfTop(top)}>{written[i]}</Value>}
				</th>
				{decided && <td class={top.num_of_blocked_requests > 0 ? 'blocked' : ''}>
					<Of top={top} n={top.num_of_blocked_requests} and={conditionOf.blocked} /></td>}
				<td><Of top={top} n={top.num_of_requests} /></td>
				<td class="share"><Of top={top} n={ranked(top)} all={rank.all} and={blocked ? conditionOf.blocked : ''} /></td>
			</tr>)}</tbody>
		</table>
	</section>;
}

/** Empty names the lists without values. */
export function Empty({ lists }: { lists: readonly ListName[] }) {
	return lists.length === 0 ? null : <p class="quiet">{words.noValues(lists.map((name) => words.lists[name]).join(', '))}</p>;
}

/** Of is a number of requests with a top value, or their part of all. A condition on a text that was cut would find none. */
export function Of({ top, n, and = '', all }: { top: Key; n: number; and?: string; all?: number }) {
	const counted = useCounted();
	const filter = top.key_truncated ? null : addOnly(counted.filter, factOfTop(top));
	const of = { n, filter: filter === null || and === '' ? filter : add(filter, and), period: counted.period };
	return all === undefined ? <Count {...of} /> : <Share {...of} of={all} />;
}
