// The menu of a value, which is the same everywhere. It is loaded when one opens.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { type Item, useConsole } from '../foundation/context';
import { type Choice, useActs } from '../parts/menu';
import { addOnly, type Fact, only, without } from '../pure/filter';
import { enforced, limitOf, ruleConditions, tried } from '../pure/trial';
import { words as page } from '../pure/words';
import { words } from './valuemenu.words';

/** Menu is the menu of a value: beside it, or at the bottom of a narrow screen. */
export function Menu({ choice, close }: { choice: Choice; close(): void }) {
	const { place, fields, go } = useConsole();
	const { fact } = choice;
	const act = useActs(fact ?? { field: '', value: '' });
	const box = useRef<HTMLDivElement>(null);
	useLayoutEffect(() => {
		const menu = box.current;
		if (!menu) return;
		const target = choice.at.getBoundingClientRect();
		const own = menu.getBoundingClientRect();
		const below = target.bottom + own.height + 8 < innerHeight;
		menu.style.setProperty('--x', `${Math.max(8, Math.min(target.left, innerWidth - own.width - 8))}px`);
		menu.style.setProperty('--y', `${Math.max(8, below ? target.bottom + 4 : target.top - own.height - 4)}px`);
		menu.querySelector<HTMLElement>('[role=menuitem]')?.focus();
	}, [choice]);
	const leave = (run: () => void) => () => {
		close();
		run();
	};
	const events: Item[] = place.screen === 'events' ? [] : [[words.openEvents, '', act.events]];
	const attempt = (name: string, rule: string): Item => [name, '', () => go(tried(rule))];
	const rules = (of: Fact): Item[] => {
		const enforces = of.field === 'monitor_reasons' ? enforced(String(of.value)) : '';
		if (enforces !== '') return [attempt(words.tryEnforced, enforces)];
		if (ruleConditions(only(of), fields) === '') return [];
		const conditions = ruleConditions(addOnly(place.filter, of), fields);
		return [attempt(words.tryLimit, limitOf(conditions)), attempt(words.tryBlock, `block where ${conditions}`)];
	};
	const items: readonly Item[] = !fact ? choice.more : [
		[words.only, only(fact), act.only], [words.without, without(fact), act.without], ...events, [words.copy, '', act.copy],
		...rules(fact), ...choice.more,
	];
	return <div class="menu" role="menu" aria-label={words.actions(fact ? String(fact.value) : page.record)} ref={box}
		onKeyDown={(event) => {
			if (event.key === 'Escape' || event.key === 'Tab') close();
			else if (!move(event.currentTarget, event.key)) return;
			event.preventDefault();
			event.stopPropagation();
		}}>
		{items.map(([name, condition, run]) =>
			<button type="button" role="menuitem" tabIndex={-1} key={name} onClick={leave(run)}>
				<span>{name}</span>{condition !== '' && <code>{condition}</code>}
			</button>)}
	</div>;
}

/** move moves the focus between the items of a menu, and reports whether the key does that. */
function move(menu: HTMLElement, key: string): boolean {
	const items = [...menu.querySelectorAll<HTMLElement>('[role=menuitem]')];
	const at = items.indexOf(document.activeElement as HTMLElement);
	const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[key];
	if (to === undefined) return false;
	items.at(to % items.length)?.focus();
	return true;
}
