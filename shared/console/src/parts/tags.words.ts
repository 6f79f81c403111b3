// The texts of the groups of tags.

export const words = {
	rules: 'by rules', traffic: 'of the traffic', geography: 'of geography', request: 'of the request',
} as const;
