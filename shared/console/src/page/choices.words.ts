// The texts of the panel in which a period and a zone are chosen.

export const words = {
	periods: 'Last',
	days: { today: 'Today', yesterday: 'Yesterday' },
	all: 'All data',
	notAll: 'The period of all data is not known here.',
	around: 'Around',
	aroundHint: '02:00, yesterday 14:30',
	noMoment: 'Not a time. Write 02:00, yesterday 14:30 or 2026-01-31 20:45.',
	exactly: 'From – to',
	from: 'From',
	to: 'To',
	noTime: 'Not a time. Write 2026-01-31 or 2026-01-31 20:45.',
	zone: 'Time zone',
	ownZone: (name: string) => `${name} (this browser)`,
} as const;
