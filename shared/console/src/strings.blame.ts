// The texts about an empty answer.

export const words = {
	name: 'Why there are no requests',
	blame: 'Without each condition',
	condition: 'Without',
	requests: 'Requests',
	leaveOut: 'Leave it out',
	leaveOutLabel: (condition: string) => `Leave it out: ${condition}`,
	toBlame: (condition: string) => `Only “${condition}” keeps out all requests.`,
	several: 'No condition is to blame alone: without any one of them, there are still no requests.',
	first: (n: number) => `These are the first ${n} conditions.`,
	nearest: (requests: string, period: string) => `The nearest that match are ${requests}, ${period}.`,
	nearestAny: (requests: string, period: string) => `The nearest are ${requests}, ${period}.`,
	goThere: 'Show them',
	never: 'No request of the data matches the filter.',
} as const;
