// The texts about what a pasted text can mean.
export const words = {
	title: 'What the pasted text can mean',
	kept: 'The text stays in this tab. Only what you choose gets into the address.',
	nothing: 'The text has no address, id of a request, URL, path, host or time.',
	run: 'Run it as a filter',
	close: 'Close',
	kinds: {
		record: 'Record', request: 'Request', address: 'Requests of', network: 'Requests of', url: 'Requests for', path: 'Requests for',
		host: 'Requests to', agent: 'Requests with', time: 'All requests of',
	},
	found: (requests: string, blocked: string) => (blocked === '' ? requests : `${requests}, ${blocked} blocked`),
	none: (period: string) => `None in ${period}.`,
	nearest: (period: string) => `The nearest: ${period}.`,
	never: 'No request of the data matches.',
} as const;
