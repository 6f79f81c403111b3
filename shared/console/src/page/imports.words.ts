// The texts about logs that a reader imports.

const some = (n: number, one: string, written: string): string => (n === 1 ? `1 ${one}` : `${written} ${one}s`);

export const words = {
	ask: 'Drop a log here, or choose a file',
	askHint: 'Access logs, logs of gateways and load balancers, plain or compressed, also in archives. The format is detected, and ' +
		'you see the first record before anything is imported.',
	reading: (log: string) => `Looking at the beginning of ${log} …`,
	of: (n: number, all: number) => `Log ${n} of ${all}`,
	format: (name: string, compression: string) => `Format ${name}${compression === '' ? '' : `, compressed with ${compression}`}.`,
	guessed: 'No known format has these lines, so their members were matched with fields by their names. Is this the first record?',
	begins: (from: string) => `The first records are of ${from}.`,
	first: 'The first record',
	noRecord: 'No line at the beginning is a record.',
	problem: (text: string) => `Not every line is a record: ${text}`,
	others: (n: number) => (n === 1 ? '1 more field' : `${n} more fields`),
	host: 'Host of these records, which the log does not have',
	hostHint: 'www.example.com',
	start: 'Import',
	sending: (percent: string, size: string) => `${percent} of ${size}`,
	storing: 'All is sent. The last records are being stored …',
	mayBeLate: 'All is sent, so it may be too late to cancel. If the log is imported, you can undo that.',
	late: 'Too late to cancel: the log is imported.',
	busy: (logs: string) => `${logs} was not taken, because another import is running. Drop it again when that has ended.`,
	cancel: 'Cancel',
	close: 'Close',
	another: 'Choose another file',
	records: (n: number, written: string) => `${some(n, 'record', written)} imported.`,
	nothingNew: 'Everything in this log was imported before.',
	period: (from: string, to: string) => `They are from ${from} to ${to}.`,
	known: (n: number, written: string) => `${some(n, 'line', written)} had been imported before.`,
	expired: (n: number, written: string) => `${some(n, 'record', written)} left out: older than what is kept.`,
	rejected: (n: number, written: string) => (n === 1 ? '1 line is no record, and is kept in the quarantine:' :
		`${written} lines are no records, and are kept in the quarantine:`),
	absent: (names: string) => `No record has ${names}.`,
	show: 'Show them',
	next: 'Next log',
	undo: 'Undo',
	undoing: 'Taking the records out …',
	undone: (n: number, written: string) => `Undone: ${some(n, 'record', written)} taken out.`,
	kept: 'The import was not undone.',
	failed: 'Nothing was imported.',
	anyway: 'Import it nevertheless',
	impossible: 'This server does not import logs over HTTP. On AWS, put logs into the bucket of raw logs; on one machine, use: ' +
		'orrery import FILE',
	forbidden: 'The key of this tab may not import logs: it needs the scope data:write, and no limit to branches.',
	offline: 'The server did not answer.',
};
