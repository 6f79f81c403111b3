// The sentences about what happened to a request.

export const words = {
	refused: (status: string) => `It passed, and the origin refused it with the status ${status}.`,
	notJudged: 'The log does not say how the request was judged.',
	passed: 'It passed.',
	answered: 'It passed and the origin answered it.',
	neverSaw: ' The origin never saw it.',
	noReason: 'It was blocked, and the log gives no reason.',
	blocked: (text: string) => `It was blocked: ${text}.`,
	did: 'blocked',
	wouldHave: 'would have blocked',

	acl: (profile: string, verb: string, bot: boolean, tags: string, cause: string) =>
		`Access control profile ${profile} ${verb} it${bot ? ' as a bot' : ''}, because it carries the ${tags} ${cause}.`,
	contentFilter: (rule: string, verb: string, match: string, cause: string) =>
		`Content filter ${rule} ${verb} it: ${match} matched ${cause}.`,
	restricted: (rule: string, verb: string, section: string, cause: string, member: string) =>
		`Content filter ${rule} ${verb} it: its ${section} exceed the limit ${cause}${member === '' ? '' : ` at ${member}`}.`,
	globalFilter: (filter: string, verb: string, match: string) => `Global filter ${filter} ${verb} it, because ${match} matches.`,
	rateLimit: (rule: string, verb: string, threshold: number | null) =>
		`Rate limit “${rule}” ${verb} it: the client is over the limit${threshold === null ? '' : ` of ${threshold} requests`}.`,
	dynamicRule: (rule: string, verb: string) => `Dynamic rule ${rule} ${verb} it, because of what the client did before.`,
	awsWAF: (verb: string, cause: string, rule: string) => `AWS WAF ${verb} it: the rule ${cause} of ${rule} matched.`,

	puzzle: 'The client had to solve a puzzle',
	proof: 'The client’s browser had to prove itself',
	challenged: (how: string) => `${how} before the request could pass.`,
	challengedBy: (how: string, profile: string, tags: string, names: string) =>
		`${how}, because access control profile ${profile} challenges requests with the ${tags} ${names}.`,

	moreRules: (n: number) => ` ${n} more ${n === 1 ? 'rule' : 'rules'} matched.`,
	monitored: 'It passed and was recorded by a rule that only monitors.',
	monitoredBy: (reasons: string) => `It passed: ${reasons}.`,
	passedThough: (sentence: string) => `It passed. ${sentence}`,

	itsPart: (part: string) => `its ${part}`,
	valueIn: (value: string, part: string) => `“${value}” in ${part}`,
	/** The names of the parts of requests. */
	sections: {
		args: 'argument', headers: 'header', cookies: 'cookie', uri: 'path', path: 'path', body: 'body', request: 'request',
		ip: 'address', asn: 'network', country: 'country', method: 'method',
	} as Readonly<Record<string, string>>,
	parts: 'parts',
	several: (part: string) => `${part}s`,
	tags: (n: number) => (n === 1 ? 'tag' : 'tags'),
	listed: (others: string, last: string) => `${others} and ${last}`,
} as const;
