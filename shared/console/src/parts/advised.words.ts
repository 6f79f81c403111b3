// The texts of the advice for a question that is more than the server can answer.

export const words = {
	useSegment: (length: string) => `Use segments of ${length}`,
	usePeriod: 'Take the shorter period',
	useAgainst: (length: string) => `Compare with ${length} before`,
	fits: (length: string) => `Only the newest ${length}`,
} as const;
