// The texts of the conditions below the filter.

export const words = {
	conditions: 'Conditions',
	invert: 'Turn around',
	takeOut: (condition: string) => `Take out: ${condition}`,
	asJSON: 'as JSON',
	asJSONTitle: 'Show the filter in the JSON form',
	tryRule: 'try a rule',
	tryTitle: 'What a limit of these requests, or blocking them, would have done',
	makeList: 'Make it a list',
} as const;
