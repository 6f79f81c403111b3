// The theme that the reader chose: light, dark, or what the system says.

const setting = 'orrery.theme';

export function readTheme(): string {
	return localStorage.getItem(setting) ?? 'auto';
}

/** showTheme gives the page its colours. */
export function showTheme(theme: string): void {
	document.documentElement.dataset['theme'] = theme;
}

export function keepTheme(theme: string): void {
	localStorage.setItem(setting, theme);
	showTheme(theme);
}

/** printLight prints on white: dark colours would cost ink, and charts are drawn with the colours of the page. */
export function printLight(): void {
	addEventListener('beforeprint', () => showTheme('light'));
	addEventListener('afterprint', () => showTheme(readTheme()));
}
