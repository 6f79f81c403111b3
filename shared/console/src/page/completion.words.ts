// The texts of the completion of a filter.

export const words = {
	noOptions: (reason: string) => `There are no values to choose from: ${reason}`,
} as const;
