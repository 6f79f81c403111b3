// Busiest: the top values with most requests first, also those of which no request was blocked.
import type { ComponentChildren } from 'preact';
import type { Answer, Facet, Parameters } from '../foundation/api';
import { useAsked } from '../foundation/ask';
import { useConsole } from '../foundation/context';
import { presentPeriod } from '../foundation/running';
import { Answered } from '../parts/answer';
import { Empty, type Key, List, type ListName } from '../parts/list';
import { filtersOf } from '../pure/filter';
import { periodOf } from '../pure/fragment';
import { words } from '../pure/words';

const mostValues = 8;

/** The lists whose values are those of a field. */
const lists = (Object.keys(words.lists) as ListName[]).filter((name) => name !== 'total_time');

/** Two fields have reasons: why requests were blocked or challenged, and why they were monitored. */
const fieldsOf = (list: ListName): string[] => (list === 'reason' ? ['reason', 'monitor_reasons'] : [list]);

/** Busiest reads the question from the address, asks for the values, and draws their lists. */
export function Busiest({ decided, children }: { decided: boolean; children: ComponentChildren }) {
	const { api, place, round } = useConsole();
	const asked = useAsked(api, `busiest ${periodOf(place)} ${place.filter}`, round, async (asker) => {
		const period = presentPeriod(place);
		const parameters: Parameters = {
			filters: filtersOf(place.filter, period), by: lists.flatMap(fieldsOf), order: 'requests', limit: mostValues,
		};
		await asker.afford([['facets', parameters]]);
		return asker.ask('facets', parameters);
	});
	return <Answered asked={asked} metas={(answer: Answer<Facet>) => [answer.meta]} part>
		{({ results, meta }) => {
			const found = lists.map((list) => ({ list, keys: keysOf(results, list) }));
			return <>
				<div class="lists">
					{found.map(({ list, keys }) => keys.length > 0 &&
						<List key={list} name={list} keys={keys} decided={decided}
							rank={{ by: 'requests', all: meta.num_of_requests ?? 0 }} />)}
					{children}
				</div>
				<Empty lists={found.filter(({ keys }) => keys.length === 0).map(({ list }) => list)} />
			</>;
		}}
	</Answered>;
}

/** keysOf returns the values of a list. */
function keysOf(facets: readonly Facet[], list: ListName): Key[] {
	return facets.filter((facet) => fieldsOf(list).includes(facet.by)).flatMap((facet) => facet.values.map((one) => ({
		label: facet.by, key: String(one.value), num_of_requests: one.num_of_requests,
		num_of_blocked_requests: one.num_of_blocked_requests,
	}))).sort((a, b) => b.num_of_requests - a.num_of_requests).slice(0, mostValues);
}
