// The texts of the panel in which a period and a zone are chosen.

export const words = {
	periods: 'Last',
	exactly: 'From – to',
	from: 'From',
	to: 'To',
	noTime: 'Not a time. Write 2026-01-31 or 2026-01-31 20:45.',
	zone: 'Time zone',
	ownZone: (name: string) => `${name} (this browser)`,
} as const;
