// A record as the plain text of a ticket, which others read without the console.
import type { Assessment } from './answers';
import { shortReason } from './reason';
import { type LogRecord, pathOf, textOf } from './record';
import { clockIn, dateIn } from './time';
import { why } from './why';

/** What a ticket says about a record besides the record. */
export interface About {
	result: string; // in a word
	address: string; // of the client: a ticket is about somebody, so it is not masked
	ms: number; // when the request came
	zone: string;
	link: string;
	filter: string;
	verdict?: Assessment | undefined; // if it is known
}

/** ticketOf writes a ticket about a record without secrets. It has no values of headers and cookies. */
export function ticketOf(safe: LogRecord, { result, address, ms, zone, link, filter, verdict }: About): string {
	const time = (of: string): string => `${dateIn(ms, of)} ${clockIn(ms, of, 'milliseconds')} ${of}`;
	const reasons = [textOf(safe, 'reason'), ...listed(safe['monitor_reasons'])].filter((one) => one !== '').map(shortReason);
	const from = [textOf(safe, 'country'), textOf(safe, 'organization')].filter((one) => one !== '').join(', ');
	const lines: [string, string][] = [
		['Result', result],
		['Why', why(safe)],
		['Time', zone === 'UTC' ? time('UTC') : `${time(zone)} (${time('UTC')})`],
		['Address', address === '' || from === '' ? address : `${address} (${from})`],
		['Request', `${textOf(safe, 'method')} ${textOf(safe, 'host')}${pathOf(safe)}`.trim()],
		['Status', textOf(safe, 'status')],
		['Rule', reasons.join('; ')],
		['Request id', textOf(safe, 'request_id')],
		['Record', link],
		['Filter', filter],
		['Verdict', verdict?.text ?? ''],
		...(verdict?.reasons ?? []).map((one): [string, string] => ['Reason', one.text]),
	];
	return lines.filter(([, text]) => text !== '').map(([name, text]) => `${name}: ${oneLine(text)}`).join('\n') + '\n';
}

/** oneLine replaces control characters by spaces, so that a value cannot look like further lines. */
const oneLine = (text: string): string => text.replace(/\p{Cc}/gu, ' ');

const listed = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);
