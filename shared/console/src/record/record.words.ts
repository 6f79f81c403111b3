// The texts of a record. The sentences about what happened to it are in why.ts.

export const words = {
	back: 'Back to the events',
	newer: 'Newer record',
	older: 'Older record',
	copyLink: 'Copy link',
	copyAs: 'Copy as…',
	copyTicket: 'Copy for a ticket',
	noTicketTitle: 'Not possible without the list of fields, which says what is secret',
	ticketAwaited: 'The ticket has the verdict, which is not there yet',
	copyTicketTitle: 'Copy the sentence, the request, its address, the verdict and the link as plain text, without secrets',
	copyCurlSecrets: 'Copy as curl, secrets included',
	raw: 'Raw JSON',

	stages: {
		'global filter': 'Global filter', 'rate limit': 'Rate limit', acl: 'Access control',
		'content filter': 'Content filter', origin: 'Origin',
	},
	stageStates: { passed: 'passed', stopped: 'stopped', 'not reached': 'not reached' },
	wayThrough: 'The way of the request',

	isFalsePositive: 'Is it a false positive?',
	takeAlong: 'Take along',
	exemption: (text: string) => `Exemption: ${text}`,
	copyJSON: 'Copy the exemption as JSON',
	copyTerraform: 'Copy the exemption as Terraform',
	copyCustomer: 'Copy text for the customer',
	show: 'show',

	whatToDo: 'What to do',
	attempts: {
		stop: 'What would have stopped it? Try limits on the requests of its address.',
		pass: 'What would let it pass? Try thresholds on the requests of its address.',
		enforce: 'What if the rule that monitored it blocked?',
	},
	toTry: 'try it',
	toPlanets: 'settings of planets',
	match: 'Matched',

	session: 'The session around it',
	earlier: 'earlier',
	earlierTitle: 'Show the requests of the session before these',
	later: 'later',
	laterTitle: 'Show the requests of the session after these, up to half an hour after the record',
	ofSession: (time: string, result: string, request: string) => `${time} ${result}: ${request}`,

	groups: {
		request: 'Request', headers: 'Headers and cookies', client: 'Client', decision: 'Decision', rules: 'Rules',
		origin: 'Origin', timing: 'Timing', more: 'More',
	},
	triggers: {
		acl_triggers: 'Access control', cf_triggers: 'Content filter', cf_restrict_triggers: 'Limits of the content filter',
		dr_triggers: 'Dynamic rules', gf_triggers: 'Global filters', rl_triggers: 'Rate limits',
	},
	members: {
		trigger_name: 'rule', trigger_id: 'id', ruleid: 'signature', risk_level: 'risk', tags: 'tags', section: 'part', name: 'name',
		value: 'matched text', threshold: 'threshold', acl_action: 'verdict', action: 'action', extra: 'extra',
	},
	matched: ' a rule matched it',
	reveal: 'Show the value',
	hide: 'Hide the value',
	secret: 'Hidden, because it may identify a person or give access',
	showSecrets: 'Show hidden values',
	times: { service: 'gateway', origin: 'origin', rest: 'rest' },
	took: (total: string) => `It took ${total}`,
} as const;
