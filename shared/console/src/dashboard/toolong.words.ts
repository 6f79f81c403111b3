// The texts about a period that is too long to look for incidents.

export const words = {
	tooLong: (days: number) => `The period is too long to look for incidents. The limit is ${days} days.`,
	onlyLast: (name: string) => `Only the ${name}`,
} as const;
