// The texts of reasons, which have the grammar
//
//	reason = action " - " initiator [ " " verb ] " " list " - " rule " - [" place "]" .
//
// as in `Block - acl Deny ["all"] - acl1 - [request]`. Texts of another grammar are shown as they are.

/** The parts of the text of a reason. */
export interface Reason {
	action: string; // Block, Monitor
	initiator: Initiator;
	verb: string; // of acl and aws-waf: Deny, Force Deny …
	causes: string[]; // what is in the list: tags, members, rules
	rule: string;
	place: string; // the section of the request
}

export type Initiator = 'acl' | 'content filter' | 'content filter restrict' | 'global filter' | 'rate limit' |
	'dynamic rule' | 'aws-waf';

const initiators: readonly Initiator[] = ['acl', 'content filter restrict', 'content filter', 'global filter',
	'rate limit', 'dynamic rule', 'aws-waf'];

/** readReason reads the text of a reason, or returns null if it has another grammar. */
export function readReason(text: string): Reason | null {
	const m = /^(\w+) - (.+?) ?(\[.*?\]) - (.*) - \[([^\]]*)\]$/s.exec(text);
	if (!m) return null;
	const [, action = '', head = '', list = '', rule = '', place = ''] = m;
	const initiator = initiators.find((name) => head === name || head.startsWith(name + ' '));
	if (!initiator) return null;
	const causes = [...list.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map((one) => one[1] ?? '');
	return { action, initiator, verb: head.slice(initiator.length).trim(), causes, rule, place };
}

/** briefValue writes a value of a field where there is little room: an empty text in quotes, a reason by shortReason. */
export function briefValue(field: string, value: string | number | boolean): string {
	if (value === '') return '""';
	return field === 'reason' || field === 'monitor_reasons' ? shortReason(String(value)) : String(value);
}

/** shortReason is the text of a reason in little room: rate limit “Login attempts”: login. */
export function shortReason(text: string): string {
	const reason = readReason(text);
	if (!reason) return text;
	const { initiator, verb, rule, causes } = reason;
	const bot = /bot/i.test(verb) ? ' (bot)' : '';
	const own = initiator === 'global filter' || initiator === 'dynamic rule' || initiator === 'rate limit';
	return own ? `${initiator} “${rule}”: ${causes.join(', ')}` : `${initiator} ${rule}${bot}: ${causes.join(', ')}`;
}
