// User agents in words: Chrome 109 · macOS.

/** The names of browsers, by patterns of their agents. The first match counts, because many agents also name other browsers. */
const browsers: readonly (readonly [RegExp, string])[] = [
	[/\bEdgi?A?(?:OS)?\/(\d+)/, 'Edge'], [/\bOPR\/(\d+)/, 'Opera'], [/\bSamsungBrowser\/(\d+)/, 'Samsung Internet'],
	[/\bYaBrowser\/(\d+)/, 'Yandex'], [/\b(?:Firefox|FxiOS)\/(\d+)/, 'Firefox'], [/\bMSIE (\d+)/, 'Internet Explorer'],
	[/\bTrident\/.*\brv:(\d+)/, 'Internet Explorer'], [/\bHeadlessChrome\/(\d+)/, 'Headless Chrome'],
	[/\b(?:Chrome|CriOS|Chromium)\/(\d+)/, 'Chrome'], [/\bVersion\/(\d+).*\bSafari\//, 'Safari'],
];

const systems: readonly (readonly [RegExp, string])[] = [
	[/\b(?:iPhone|iPad|iPod)\b/, 'iOS'], [/\bAndroid\b/, 'Android'], [/\bWindows\b/, 'Windows'], [/\bMac OS X\b/, 'macOS'],
	[/\bCrOS\b/, 'ChromeOS'], [/\bLinux\b/, 'Linux'],
];

const robot = /([\w.-]*(?:bot|crawler|spider|slurp)[\w.-]*)(?:\/v?(\d+(?:\.\d+)?))?/i;
const program = /^([A-Za-z][\w.-]*)\/v?(\d+(?:\.\d+)?)/;

/** agentOf writes a user agent in words, or returns its text if it knows none. */
export function agentOf(text: string): string {
	const [, name, version] = robot.exec(text.replace(/\bhttps?:\S*/g, '')) ?? [];
	if (name) return version ? `${name} ${version}` : name;
	for (const [pattern, browser] of browsers) {
		const found = pattern.exec(text);
		if (!found) continue;
		const [, system] = systems.find(([one]) => one.test(text)) ?? [];
		return `${browser} ${found[1]}${system ? ` · ${system}` : ''}`;
	}
	const found = text.startsWith('Mozilla/') ? null : program.exec(text);
	return found ? `${found[1]} ${found[2]}` : text;
}

/** agentsOf writes user agents in words. Agents with the same words keep their texts, which tell them apart. */
export function agentsOf(texts: readonly string[]): string[] {
	const words = texts.map(agentOf);
	return words.map((one, i) => (words.indexOf(one) === words.lastIndexOf(one) ? one : texts[i] ?? one));
}
