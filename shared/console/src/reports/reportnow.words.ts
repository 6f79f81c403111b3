// The texts of the report about the filter and the period of the dashboard.

export const words = {
	tools: 'What to do with the report',
	weekly: 'Every Monday',
	save: 'Save the page',
	saveHint: 'As a file for a browser. The report is made again for it.',
	print: 'Print',
	back: 'Back to the dashboard',
	title: 'A report every Monday',
	about: (zone: string) => `It is made every Monday morning (${zone}), about the week before.`,
	filter: 'Only requests with',
	name: 'Name',
	config: 'Configuration',
	wrongName: 'Small letters, digits and “-”, at most 64.',
	taken: 'There is a report with this name.',
	to: 'Also goes to',
	mail: 'Mail to',
	addresses: 'ops@example.com',
	schedule: 'Schedule',
	scheduled: (name: string, at: string) => `${name} is scheduled. It is next made ${at === '' ? 'on Monday' : `on ${at}`}.`,
	open: 'Open it under Reports',
	none: 'This server schedules no reports, or the key does not see this configuration.',
} as const;
