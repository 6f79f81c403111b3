// Tags by what they are about. Their names begin with it: geo-country:germany, ip:192-0-2-1.

/** The groups, in the order in which they are shown. */
export const tagGroups = ['rules', 'traffic', 'geography', 'request'] as const;

export type TagGroup = typeof tagGroups[number];

const ofTraffic = new Set(['bot', 'bot-kind', 'device', 'human', 'verified-bot']);
const ofRequest = new Set(['all', 'args', 'asn', 'authority', 'cookies', 'headers', 'host', 'ip', 'method', 'network', 'path', 'status',
	'status-class', 'uri']);

/** groupOf returns the group of a tag. Those with names of the customer's own are set by rules. */
export function groupOf(tag: string): TagGroup {
	const name = tag.split(':')[0] ?? '';
	if (name.startsWith('geo-')) return 'geography';
	return ofTraffic.has(name) ? 'traffic' : ofRequest.has(name) ? 'request' : 'rules';
}
