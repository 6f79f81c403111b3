// The texts of the screen that tries a rule on past requests.
const people = (n: string): string => (n === '1' ? '1 request of a person' : `${n} requests of people`);
const many = (n: string): string => (n === '1' ? '1 request' : `${n} requests`);
const addresses = (n: string): string => (n === '1' ? '1 address' : `${n} addresses`);

const verbs = { block: 'block', challenge: 'challenge', monitor: 'record' };

export const words = {
	form: 'The rule that is tried',
	otherForm: 'The other rule',
	try: 'Try to',
	kinds: {
		limit: 'limit requests', block: 'block requests', challenge: 'challenge requests', enforce: 'enforce a monitored rule',
		text: 'use a rule of the gateway',
	},
	threshold: 'to',
	per: 'requests in',
	valuesIn: 'values in',
	by: 'for each',
	counted: 'counting',
	above: 'Above that,',
	where: 'Only requests with',
	whereOf: 'requests with',
	whereHint: 'all requests, or conditions such as path~"^/login"',
	whereNeeded: 'conditions, such as path~"^/wp-"',
	name: 'name or id',
	nameHint: 'acl3, or the name of a global filter',
	text: 'Rule as text, or in JSON as the gateway has it',
	needs: {
		limit: 'Type a number of requests.', block: 'Type which requests.', challenge: 'Type which requests.',
		enforce: 'Type which rule.', text: 'Paste a rule.',
	},
	more: 'What is counted, and what happens above that',
	run: 'Try it',
	nothingSent: 'It is replayed on past requests. Nothing is sent to a gateway.',
	keys: {
		ip: 'address', session: 'session', 'ip, host': 'address and host', 'ip, path': 'address and path',
		'ip, user_agent': 'address and agent', country: 'country', organization: 'network',
	} as Readonly<Record<string, string>>,
	usualKeys: 'Usual keys',
	otherKeys: 'Other fields',
	lengths: {
		'1s': '1 second', '10s': '10 seconds', '30s': '30 seconds', '1m': '1 minute', '5m': '5 minutes', '10m': '10 minutes',
		'1h': '1 hour', '1d': '1 day',
	} as Readonly<Record<string, string>>,
	requests: 'requests',
	different: (field: string) => `different values of ${field}`,
	aboves: {
		'': 'block the request', 'ban 1m': 'block the client for 1 minute', 'ban 10m': 'block the client for 10 minutes',
		'ban 1h': 'block the client for 1 hour', 'action challenge': 'challenge the request', 'action monitor': 'only record the request',
	} as Readonly<Record<string, string>>,

	beside: 'Try another rule beside it',
	remove: 'Take the other rule away',
	onlyOn: 'Tried only on requests of the filter:',
	toRule: 'Make it a condition of the rule',
	onAll: 'Try it on all requests',
	attack: 'The attack to stop:',
	attackHint: 'conditions, such as path="/login", human is false',
	compare: 'Compare with it',
	noAttack: 'No attack',
	knee: 'Best is another threshold.',
	isKnee: 'No other threshold is better.',
	looksEmpty: (at: string) => `The newest record is of ${at}.`,
	newestDay: 'Try it on the day before that',

	verdict: {
		nothing: () => 'It would have done nothing in this period.',
		stopped: (_: keyof typeof verbs, all: string) => `It would stop nobody new: the gateway blocked all ${many(all)} anyway.`,
		unknown: (action: keyof typeof verbs, all: string, from: string) =>
			`It would newly ${verbs[action]} ${many(all)} from ${addresses(from)}. The log does not say which are of people.`,
		people: (action: keyof typeof verbs, all: string, from: string, some: string, someFrom: string) =>
			`It would newly ${verbs[action]} ${people(some)}, from ${addresses(someFrom)}${some === all ? '.' :
				`: ${some} of ${many(all)} from ${addresses(from)}.`}`,
		others: (action: keyof typeof verbs, all: string, from: string) =>
			`It would newly ${verbs[action]} no known person, only ${many(all)} of others, from ${addresses(from)}.`,
	},
	figures: 'Both rules',
	figure: 'Figure',
	rule: 'Rule',
	figureNames: {
		people: 'Requests of people, newly', peopleFrom: 'Addresses of people', fresh: 'Requests, newly', from: 'Addresses',
		blocked: 'Requests that the gateway blocked anyway',
	},
	unknownNumber: 'not known',

	curve: { rule: 'What other thresholds would do', other: 'What other thresholds of the other rule would do' },
	curveHint: 'Drag the line, or move it with the arrow keys and press Enter.',
	curveSlider: 'Threshold',
	at: (threshold: string) => `At ${threshold}: `,
	moved: (threshold: string) => `Try ${threshold}`,
	harmless: (threshold: string) => `From ${threshold} on, no known person is stopped.`,
	loosest: (threshold: string) => `The limit would have acted up to a threshold of ${threshold}.`,
	flat: 'No limit would have acted: nobody sent a second request in this time. Try a longer time, or other requests.',
	fresh: 'newly stopped',
	ofPeople: 'of people',
	anyway: 'blocked anyway',
	thresholdColumn: 'Threshold',
	requestsColumn: 'Requests, newly',
	peopleColumn: 'Of people',
	addressesColumn: 'Addresses',
	asTable: 'Show as table',
	asChart: 'Show as chart',

	overTime: { rule: 'When it would have acted', other: 'When the other rule would have acted' },
	common: 'What the newly stopped requests have in common',
	clients: 'Who would be newly stopped',
	moreClients: (n: number) => (n === 1 ? 'Show 1 more' : `Show ${n} more`),
	clientsHint: 'People first, then those with the most requests. At most 20.',
	client: 'Client',
	freshColumn: 'Newly',
	when: 'When',
	look: 'Look',
	allOf: 'requests',
	allOfTitle: (client: string) => `All requests of ${client} to which the rule applies`,
	record: 'record',
	recordTitle: (client: string) => `The record of the first newly stopped request of ${client}`,
	unknown: 'What is not known',
	copyText: 'Copy as text',
	copyJSON: 'Copy as JSON of the gateway',
	copyTerraform: 'Copy as Terraform',
	copyCurl: 'Copy as curl for the gateway',
} as const;
