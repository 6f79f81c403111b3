// The texts of the other charts of a period, of the chart of two sides, and of charts as tables.

export const words = {
	names: {
		status: 'Responses over time by status', origin: 'Responses of the origin over time by status',
		human: 'Requests over time by humans and others', latency: 'Times of requests over time',
		originLatency: 'Times of the origin over time',
	},
	humans: 'humans',
	others: 'others',
	statusClass: (first: number) => `${first}xx`,
	shares: { p50: 'half are faster', p90: '9 of 10 are faster', p99: '99 of 100 are faster' },
	split: (field: string) => `Requests over time by ${field}`,
	kinds: { other: 'other values', absent: 'without a value' },
	notSplit: 'Do not split',
	most: (text: string) => `up to ${text}`,
	summary: (lines: string, segments: number) => `${lines}; ${segments} segments.`,
	scale: (length: string, zone: string) => `each ${length}, ${zone}`,
	noLines: 'No request of this period has a value.',
	time: 'Time',
	asTable: 'Show as table',
	asChart: 'Show as chart',

	overlay: 'Both sides over time',
	measures: {
		requests: 'Requests', blocked: 'Blocked', challenged: 'Challenged', human: 'By humans', refused: 'Origin 4xx, 5xx', bytes: 'Sent',
	},
	figures: 'Figures of both sides. A click draws one.',
	selected: 'These',
	rest: 'The others',
	before: 'Before',
	all: 'all requests',
	beside: {
		rest: (text: string) => `others ${text}`, before: (text: string) => `was ${text}`, filters: (text: string) => `other ${text}`,
	},
	moments: (a: string, b: string) => (a === b ? a : `${a}, beside ${b}`),
	changes: { more: 'more', less: 'less', same: '', new: '' },
} as const;
