// The texts about changes of settings, and what they did.

export const words = {
	name: 'Changes of settings',
	none: 'No change of settings in this period.',
	revision: (at: string, after: string) => `${at} revision ${after}`,
	planet: (at: string, config: string, version: number) => `${at} planet ${config}, version ${version}`,
	before: (revision: string) => `before: revision ${revision}`,
	by: (name: string) => `by ${name}`,
	ask: 'What did this change do?',
	around: 'Show the two hours around it',
	effect: (name: string) => `Effect of the change: ${name}`,
	close: 'Close',
	rule: 'Rule',
	blockedBefore: 'Blocked before',
	blockedAfter: 'Blocked after',
	expected: 'Against what was expected',
	more: (n: string) => `${n} more`,
	less: (n: string) => `${n} less`,
	asExpected: 'as expected',
	shortened: 'The data ends less than an hour after the change, so both periods are shorter.',
} as const;
