// A recorded request as a command of curl, which repeats it.
import { shell } from './curl';
import { type LogRecord, pathOf, textOf } from './record';

/** requestAsCurl repeats a recorded request. The path is sent as it was received, also with dots and brackets. */
export function requestAsCurl(record: LogRecord): string {
	const host = textOf(record, 'host') || textOf(record, 'hostname') || 'localhost';
	const parts = ['curl', '-i', '--path-as-is', '-g'];
	const method = textOf(record, 'method');
	if (method !== '' && method !== 'GET') parts.push('-X', shell(method));
	parts.push(shell(`https://${host}${pathOf(record)}`));
	for (const [name, value] of membersOf(record['headers'])) {
		if (/^(host|content-length|connection|cookie)$/i.test(name)) continue;
		parts.push('-H', shell(`${name}: ${value}`));
	}
	const cookies = membersOf(record['cookies']);
	if (cookies.length > 0) {
		parts.push('-b', shell(cookies.map(([name, value]) => `${name}=${value}`).join('; ')));
	}
	return parts.join(' ');
}

function membersOf(value: unknown): [string, string][] {
	if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
	return Object.entries(value).flatMap(([name, one]) =>
		(Array.isArray(one) ? one : [one]).map((text): [string, string] => [name, String(text)]));
}
