// The texts of a selection in a chart.

export const words = {
	name: 'Selection',
	zoom: 'Zoom',
	differs: 'What is different here',
	differsTitle: 'Compare these requests with the others of the period',
	differsBefore: 'Compare these requests with the period before',
	requests: 'Requests',
	requestsTitle: 'Show these requests',
	report: 'Report',
	reportTitle: 'A report on these requests',
	close: 'Close the selection',
} as const;
