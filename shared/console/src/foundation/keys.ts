// Shortcuts. A sequence such as "g d" is two keys after one another. Single letters can be switched off (WCAG 2.1.4).
import { useLayoutEffect, useRef } from 'preact/hooks';

const sequencePause = 1000; // milliseconds between the keys of a sequence
const setting = 'orrery.shortcuts';

export function shortcutsOn(): boolean {
	return localStorage.getItem(setting) !== 'off';
}

export function setShortcuts(on: boolean): void {
	localStorage.setItem(setting, on ? 'on' : 'off');
}

/** useShortcuts runs the action of a key or a sequence, unless the reader is typing. */
export function useShortcuts(actions: Readonly<Record<string, () => void>>): void {
	const latest = useRef(actions);
	latest.current = actions;
	useLayoutEffect(() => { // before the page can be seen
		let first = '';
		let at = 0;
		const press = (event: KeyboardEvent): void => {
			if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
			if (document.querySelector('dialog[open]')) return; // its keys are the browser's
			if (event.key !== 'Escape' && (isTyping(event.target) || !shortcutsOn())) return;
			const sequence = event.timeStamp - at < sequencePause ? `${first} ${event.key}` : event.key;
			const action = latest.current[sequence] ?? latest.current[event.key];
			first = event.key;
			at = event.timeStamp;
			if (!action) return;
			event.preventDefault();
			action();
		};
		addEventListener('keydown', press);
		return () => removeEventListener('keydown', press);
	}, []);
}

function isTyping(target: EventTarget | null): boolean {
	return target instanceof HTMLElement && target.matches('input:not([type=checkbox]), textarea, select, [contenteditable]');
}
