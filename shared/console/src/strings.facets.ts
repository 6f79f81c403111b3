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
	more: 'Show more values',
} as const;
