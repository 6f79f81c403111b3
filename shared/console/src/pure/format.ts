// Numbers, sizes and durations as text.

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });

/** count writes a number of things: 18,985. */
export function count(n: number): string {
	return whole.format(n);
}

/** requests writes a number of requests. */
export function requests(n: number): string {
	return n === 1 ? '1 request' : `${count(n)} requests`;
}

/** brief writes a number in little room: 18,985, but 1.25M. */
export function brief(n: number): string {
	return n < 1_000_000 ? whole.format(n) : short.format(n);
}

/** bytes writes a size with powers of 1000: 8.2 MB. */
export function bytes(n: number): string {
	const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
	let i = 0;
	while (n >= 999.5 && i < units.length - 1) {
		n /= 1000;
		i++;
	}
	return `${i === 0 || n >= 99.5 ? Math.round(n) : n.toPrecision(2)} ${units[i]}`;
}

/** milliseconds writes a duration: 41 ms, 1.3 s, 3 h. */
export function milliseconds(ms: number): string {
	if (ms < 1) return '<1 ms';
	if (ms < 999.5) return `${Math.round(ms)} ms`;
	if (ms < 3_600_000) return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`;
	return ms < 172_800_000 ? `${Math.round(ms / 3_600_000)} h` : `${brief(Math.round(ms / 86_400_000))} d`;
}

/** seconds writes a duration that the API gives in seconds. */
export function seconds(s: number): string {
	return milliseconds(s * 1000);
}

/** dollars writes a price. Small prices keep two digits that say something. */
export function dollars(usd: number): string {
	if (usd === 0) return '$0';
	if (usd >= 0.01) return `$${usd.toFixed(2)}`;
	return `$${usd.toPrecision(2).replace(/e-(\d+)$/, '·10^-$1')}`;
}

/** share writes a part of a whole, which the reader sees beside it: 12 %, but 1.0 %, and 99.7 % if it is not all. */
export function share(part: number, of: number): string {
	if (of === 0) return '–';
	if (part === 0) return '0 %';
	const percent = (part / of) * 100;
	if (percent < 0.1) return '<0.1 %';
	if (part < of && percent >= 99.95) return '>99.9 %';
	return `${percent < 9.95 || (part < of && percent >= 99.5) ? percent.toFixed(1) : Math.round(percent)} %`;
}

/** times writes a ratio with the digits that say something: 0.31, 2.5, 12, 1,204. */
export function times(ratio: number): string {
	if (ratio > 0 && ratio < 0.01) return '<0.01';
	return ratio >= 9.95 ? count(Math.round(ratio)) : ratio.toPrecision(2);
}

/** A change against an earlier number. */
export interface Change {
	sign: 'more' | 'less' | 'same' | 'new';
	text: string;
}

/** changeOf compares a number with an earlier one. */
export function changeOf(now: number, before: number): Change {
	if (now === before) return { sign: 'same', text: 'the same' };
	if (before === 0) return { sign: 'new', text: 'none before' };
	const ratio = now / before;
	if (ratio >= 10) return { sign: 'more', text: `× ${times(ratio)}` };
	const percent = Math.round(Math.abs(ratio - 1) * 100);
	return { sign: ratio > 1 ? 'more' : 'less', text: percent === 0 ? '<1 %' : `${percent} %` };
}

/** ago writes how long ago an instant was: 41 s, 3 min, 2 h, 5 d. */
export function ago(ms: number): string {
	if (ms < 60_000) return `${Math.max(0, Math.round(ms / 1000))} s`;
	if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`;
	if (ms < 172_800_000) return `${Math.round(ms / 3_600_000)} h`;
	return `${Math.round(ms / 86_400_000)} d`;
}
