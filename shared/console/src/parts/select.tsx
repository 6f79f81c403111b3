// A list of options to choose from, which waits for a reader who only moves through it by keys.
import { useRef, useState } from 'preact/hooks';
import { words } from '../texts/page';

/** Select acts at once on what the mouse or a finger chooses, and on what keys choose as soon as Enter or the button is pressed. */
export function Select({ id, name, value, options, choose }: {
	id?: string; name: string; value: string; options: readonly (readonly [value: string, name: string])[]; choose(value: string): void;
}) {
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
			{options.map(([one, text]) => <option key={one} value={one}>{text}</option>)}
		</select></label>
		{at !== value && <button type="button" class="small primary" onClick={() => {
			list.current?.focus(); // the button is gone then
			act(at);
		}}>{words.apply}</button>}
	</span>;
}
