// The texts of the answer above the dashboard: the incidents of the period, and whether the origin held.

const several = (n: number, all: number, text: (of: string) => string): string => text(n === all ? 'all of them' : `${n} of them`);

export const words = {
	looking: 'Looking for incidents…',
	name: 'Incidents',
	none: 'No incidents in this period.',
	kinds: {
		'password guessing': 'Password guessing at', injection: 'Injection attack on', scan: 'Scan of', flood: 'Flood of',
		scraping: 'Scraping of', unusual: 'Unusual requests at',
	},
	probably: (kind: string) => `Probably: ${kind.charAt(0).toLowerCase()}${kind.slice(1)}`,
	one: {
		held: 'The origin held.', look: 'The origin held, but people were blocked.', 'not held': 'The origin did not hold.',
		unknown: 'It is unclear whether the origin held.',
	},
	many: (n: string) => `${n} incidents.`,
	of: {
		held: () => 'The origin held in all of them.',
		look: (n: number, all: number) => several(n, all, (them) => `The origin held, but people were blocked in ${them}.`),
		'not held': (n: number, all: number) => several(n, all, (them) => `The origin did not hold in ${them}.`),
		unknown: (n: number, all: number) => (n === all ? 'It is unclear whether the origin held.' :
			`For ${n} of them, it is unclear whether the origin held.`),
	},
	todo: {
		held: 'Nothing to do now.', look: 'Check whether a rule is too strict for people.',
		'not held': 'See who sends the requests, and block or limit them.',
		unknown: 'There were too few other requests to compare. Check that the origin responds.',
	},
	going: (n: number) => (n === 1 ? 'One is still going on.' : `${n} are still going on.`),
	goes: 'It is still going on.',
	guessed: 'The log has no decisions of a gateway, so these are guesses.',
	blockedOf: [' of ', ' were blocked.'] as const,
	most: 'There are more incidents. These have the most requests.',

	columns: {
		when: 'When', what: 'What', blocked: 'Blocked', parts: 'blocked · challenged · passed', clients: 'Addresses', held: 'Did it hold?',
	},
	requests: 'Requests',
	since: (at: string) => `since ${at}`,
	cut: 'cut by the period',
	open: (what: string) => `${what}: show the requests and who sent them`,
	tryIt: 'try a limit',
	tryLimit: (what: string) => `${what}: try a limit on its target`,
	partsOf: (blocked: string, challenged: string, passed: string) => `${blocked} blocked, ${challenged} challenged, ${passed} passed`,
	held: { held: 'held', look: 'people were blocked', 'not held': 'did not hold', unknown: 'unclear' },
	signs: { held: '✓', look: '!', 'not held': '✗', unknown: '?' },
	errors: (n: string, of: string) => `· ${n} of ${of} others got an error`,
	more: (n: number) => (n ? `Show ${n} more` : 'Show more'),
} as const;
