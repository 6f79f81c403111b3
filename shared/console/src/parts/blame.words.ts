// The texts about an empty answer.

export const words = {
	noData: 'There is no data yet.',
	noDataHint: 'Import a log with “orrery import access.log.gz”, or start “orrery serve” with an empty folder for a demo.',
	outside: (newest: string) => `The newest record is of ${newest}.`,
	goToNewest: 'Go there',
	dropFilter: 'Without the filter',
	whyNothing: 'Why nothing?',
	whereNearest: 'Where are the nearest?',
	name: 'Why there are no requests',
	blame: 'Without each condition',
	condition: 'Without',
	requests: 'Requests',
	leaveOut: 'Leave it out',
	leaveOutLabel: (condition: string) => `Leave it out: ${condition}`,
	toBlame: (condition: string) => `Only “${condition}” keeps out all requests.`,
	several: 'No condition is to blame alone: without any one of them, there are still no requests.',
	first: (n: number) => `These are the first ${n} conditions.`,
	nearest: 'Nearest:',
	goThere: 'Show them',
	never: 'No request of the data matches the filter.',
} as const;
