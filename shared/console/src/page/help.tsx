// The list of the keyboard shortcuts.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { setShortcuts, shortcutsOn } from '../foundation/keys';
import { words } from './help.words';

/** Help lists the shortcuts, and switches them off. */
export function Help({ close }: { close(): void }) {
	const dialog = useRef<HTMLDialogElement>(null);
	const [on, setOn] = useState(shortcutsOn);
	useLayoutEffect(() => dialog.current?.showModal(), []);
	return <dialog ref={dialog} aria-labelledby="help-title" onClose={close} onClick={(event) => {
		if (event.target === dialog.current) dialog.current?.close(); // beside the box
	}}>
		<div class="box">
			<h2 id="help-title">{words.title}</h2>
			<dl class="keys">{words.shortcuts.map(([keys, text]) => <div key={keys}>
				<dt>{keys.split(' ').map((one) => <kbd key={one}>{one}</kbd>)}</dt><dd>{text}</dd>
			</div>)}</dl>
			<label><input type="checkbox" checked={on} onChange={(event) => {
				setOn(event.currentTarget.checked);
				setShortcuts(event.currentTarget.checked);
			}} /> {words.shortcutsOn}</label>
			<button type="button" class="primary" onClick={() => dialog.current?.close()}>{words.close}</button>
		</div>
	</dialog>;
}
