// The texts of what stands out.

export const words = {
	name: (selected: string) => `${selected === 'blocked is true' ? 'Blocked' : selected} against the rest`,
	/** organization Jade Telecom: 71 % of these (710), 2 % of the rest (180). */
	of: (field: string, value: string) => `${field} ${value}:`,
	sides: { selected: [' of these (', '), '], baseline: [' of the rest (', ')'] },
	noOthers: (selected: string) => `There are no others to compare with: all requests of the filter have ${selected}.`,
	none: 'No value is in more of them than in the others, except by chance.',
	small: 'These are few requests: a difference may be chance.',
	only: 'only',
	without: 'without',
	open: 'open',
	openLabel: (n: string, selected: string, condition: string) => `open ${n} events with ${selected}, ${condition}`,
	onlyLabel: (condition: string) => `Only ${condition}`,
	withoutLabel: (condition: string) => `Without ${condition}`,
	compare: 'Compare all values',
	compareBefore: 'Compare with the period before',
} as const;
