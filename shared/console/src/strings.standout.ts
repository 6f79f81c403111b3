// The texts of what stands out.

export const words = {
	name: (selected: string) => `What stands out where ${selected}`,
	sentence: ([selected, n]: [string, string], field: string, value: string, [others, m]: [string, string]) =>
		`${selected} of them (${n}) have ${field} ${value}, and ${others} of the other requests (${m}).`,
	none: 'No value is in more of them than in the others, except by chance.',
	small: 'These are few requests: a difference may be chance.',
	only: 'only',
	without: 'without',
	open: 'open',
	openLabel: (n: string, selected: string, condition: string) => `open ${n} events with ${selected}, ${condition}`,
	onlyLabel: (condition: string) => `Only ${condition}`,
	withoutLabel: (condition: string) => `Without ${condition}`,
	compare: 'Compare all values',
} as const;
