// The texts of the chart that is split by a field.

export const words = {
	name: (field: string) => `Requests over time by ${field}`,
	summary: (series: string, segments: number) => `${series}, in ${segments} segments.`,
	other: 'other values',
	absent: 'without a value',
	time: 'Time',
	asTable: 'Show as table',
	asChart: 'Show as chart',
	remove: 'Do not split',
} as const;
