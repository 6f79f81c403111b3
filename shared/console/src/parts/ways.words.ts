// The texts of the ways from a record, which lists have, too.

export const words = {
	around: '5 minutes around',
	sameAddress: 'Same address',
	sameSession: 'Same session',
	sameRule: 'Same rule',
	samePath: 'Same path',
	none: (name: string) => `${name}: the record has none`,
	copyFilter: 'Copy a filter that finds it',
	copyJSON: 'Copy as JSON',
	copyCurl: 'Copy as curl',
	gone: 'No record of the data has this reference. It may have been deleted.',
	heavy: 'To look it up is a heavy question. The record has its price.',
} as const;
