// A list of options to choose from, which waits for a reader who only moves through it by keys.
import { useRef, useState } from 'preact/hooks';
import { words } from '../pure/words';

type Option = readonly [value: string, name: string];

/** Select acts at once on what the mouse or a finger chooses, and on what keys choose as soon as Enter or the button is pressed. */
export function Select({ id, name, value, options = [], groups = [], choose }: {
	id?: string; name: string; value: string; options?: readonly Option[]; choose(value: string): void;
	groups?: readonly (readonly [name: string, options: readonly Option[]])[]; // of options, below those without one
}) {
	const optionOf = ([one, text]: Option) => <option key={one} value={one}>{text}</option>;
	const [moved, setMoved] = useState({ of: value, to: value }); // by keys, from the value
	const byKeys = useRef(false);
	const at = moved.of === value ? moved.to : value;
	const list = useRef<HTMLSelectElement>(null);
	const act = (to: string): void => {
		setMoved({ of: to, to });
		choose(to);
	};
	return <span class="row tight">
		<label>{name} <select class="small" id={id} value={at} ref={list} onPointerDown={() => {
			byKeys.current = false;
		}} onKeyDown={(event) => {
			byKeys.current = true;
			if (event.key !== 'Enter' || at === value) return;
			event.preventDefault();
			act(at);
		}} onChange={({ currentTarget: { value: to } }) => {
			if (byKeys.current) setMoved({ of: value, to });
			else act(to);
		}}>
			{options.map(optionOf)}
			{groups.map(([group, some]) => <optgroup key={group} label={group}>{some.map(optionOf)}</optgroup>)}
		</select></label>
		{at !== value && <button type="button" class="small primary" onClick={() => {
			list.current?.focus(); // the button is gone then
			act(at);
		}}>{words.apply}</button>}
	</span>;
}
