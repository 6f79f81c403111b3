// The texts of the values of fields.

export const words = {
	title: 'Values of fields',
	close: 'Close',
	add: 'Add a field',
	addHint: 'status, headers["accept"]',
	addButton: 'Add',
	usual: 'Usual fields',
	remove: (field: string) => `Remove ${field}`,
	rest: (n: string, requests: string) => `${n} more ${n === '1' ? 'value' : 'values'}, ${requests}`,
	restOf: (n: string) => `${n} more ${n === '1' ? 'value' : 'values'}`,
	absent: 'without a value',
	distinct: (n: string) => (n === '1' ? '1 value' : `${n} values`),
	none: 'No request has this field.',
	blocked: (n: string) => `${n} blocked`,
	present: 'only with a value',
	more: 'Show more values',
	addOne: (field: string) => `Add ${field}`,
	groups: {
		client: 'Client', request: 'Request', decision: 'Decision', rules: 'Rules', origin: 'Origin',
		geography: 'Geography', '': '', // the group is not known until the catalogue is loaded
	},
} as const;
