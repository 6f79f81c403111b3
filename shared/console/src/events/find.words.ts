// The texts of the search in the rows.

export const words = {
	find: 'Find in these rows',
	enter: 'Enter: all events with',
	keys: (condition: string) => `Enter shows all events with ${condition}`,
} as const;
