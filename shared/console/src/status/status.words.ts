// The texts of the status.

export const words = {
	states: { well: 'Well', hint: 'Hint', act: 'To do', unknown: 'Not known' },
	checks: {
		data: 'Data', complete: 'Completeness', import: 'Import', quarantine: 'Quarantine', queue: 'Merging', key: 'Key',
	},
	all: 'Everything is well.',
	nothingOpen: 'Nothing asks for a hand.',
	unknown: (n: number) => (n === 1 ? 'One thing is not known.' : `${n} things are not known.`),
	some: (n: number) => (n === 1 ? 'One thing asks for a hand.' : `${n} things ask for a hand.`),
	engine: (engine: string, version: string) => `Engine ${engine}, version ${version}.`,

	data: (objects: string, bytes: string) => ` in ${objects}, ${bytes}.`, // after a number of records
	dataUnknown: 'The number of records is not known.',
	recordsUnknown: 'An unknown number of records',
	to: (to: string) => `The newest record is of ${to}. The key does not learn more, because it is limited to branches.`,
	kept: (hours: number, from: string) =>
		`Records are kept for ${hours % 24 === 0 ? some(hours / 24, 'day') : some(hours, 'hour')}. Those from before ${from} are removed.`,
	from: (from: string, to: string) => `The oldest is of ${from}, the newest of ${to}.`,
	noData: 'There are no records.',
	noDataDo: 'Import a log: orrery import access.log.gz',

	complete: (at: string, ago: string) => `Every log that was handed in before ${at} is in the answers. That was ${ago} ago.`,
	completeUnknown: 'It is not known to when the data is complete.',
	completeUnknownDo: 'Newer records may be missing in answers. Compare the newest record with the clock.',
	completeDo: 'Logs wait longer than usual. On one machine, look at the messages of orrery serve; on AWS, at the alarms of the ' +
		'deployment, and send lost logs again: orrery reconcile --stack NAME',

	last: (source: string, ago: string) => `The latest import is ${source}, ${ago} ago.`,
	noImport: 'Nothing was imported yet.',
	watching: 'Logs that are put into the folder or bucket of raw logs are imported.',
	notWatching: 'This server does not import by itself.',
	notWatchingDo: 'Import a log when there is one: orrery import FILE',
	importUnknown: 'This server does not know the imports.',

	rejected: (n: string) => `${n} of imported logs are not records.`,
	rejectedNewest: (code: string) => `The newest was rejected because of ${code}.`,
	rejectedSome: 'Lines of imported logs are not records. Their number is not known.',
	rejectedNone: 'Every line of every imported log is a record.',
	rejectedUnknown: 'It is not known whether lines were rejected.',
	rejectedDo: 'The lines are kept. List them with their reasons, mend the cause, then import them again: orrery quarantine',

	queue: (n: string, of: string) => `${n} of the newest ${of} with records have small objects that are not merged yet.`,
	queueNone: (of: string) => `The newest ${of} with records are merged.`,
	queueEmpty: 'There is nothing to merge.',
	queueDo: 'Answers are the same, and read more objects. On AWS hours are merged by themselves; on one machine: orrery compact',
	queueUnknown: 'The hours are not known.',

	key: (name: string) => `This tab uses the key “${name}”.`,
	keyScopes: (scopes: string) => `It may ${scopes}.`,
	scopes: {
		'data:read': 'read data', 'data:write': 'import logs', 'conf:read': 'read settings', 'conf:write': 'change settings',
	} as Readonly<Record<string, string>>,
	keyAll: 'It sees all branches.',
	keyBranches: (names: string) => `It sees only ${names}.`,
	keyLimited: 'For a key that is limited to branches, the figures of the whole data are hidden.',
	keyNever: 'It does not expire.',
	keyExpires: (at: string) => `It is refused from ${at} on.`,
	keyDo: 'Create another one before: orrery key create NAME',

	unreadable: 'Objects that cannot be read',
	unreadableHint: 'A damaged object is left out of answers, which say so. This asks for the newest day.',
	unreadableAsk: 'Check the newest day',
	unreadableNone: (objects: string, price: string) => `All ${objects} of the newest day were read, ${price}.`,
	unreadableSome: (n: string) => `${n} could not be read:`,
	unreadableDo: 'Import their logs again: orrery forget, then orrery import. Or restore them from a backup.',

	hours: 'The newest hours',
	hoursSummary: (n: string, merged: string) => `${n} with records, ${merged} of them merged; `,
	hoursHint: 'A bar is an hour, as high as its size. A click shows its events.',
	merged: 'merged',
	fresh: 'not merged yet',
	asTable: 'Show as table',
	asBars: 'Show as bars',
	noHour: 'no records',
	hour: 'Hour',
	size: 'Size',
	objects: 'Objects',
	records: 'Records',
	state: 'State',

	allowed: 'What it allows',
	price: 'Price',
	priceOf: (usd: string, minimum: string) => `${usd} for each TB that queries read, and for ${minimum} at least`,
	free: 'Nothing: the engine charges nothing',
	limits: {
		filter_bytes: 'A filter', body_bytes: 'The body of a request', answer_bytes: 'An answer', segments: 'Segments times series',
		by: 'Fields to group by', wait_seconds: 'Waiting for a query',
	} as Readonly<Record<string, string>>,
	perRoute: (route: string) => `Results of ${route}`,
	features: 'Routes',
} as const;

function some(n: number, unit: string): string {
	return n === 1 ? `1 ${unit}` : `${n} ${unit}s`;
}
