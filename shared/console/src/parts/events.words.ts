// The texts of the events.

export const words = {
	chooseColumns: 'Columns',
	events: 'Events, newest first',
	eventsShown: (n: string, of: string, oldest: string) => `${n} of ${of} shown, back to ${oldest}`,
	eventsAll: (n: string) => `all ${n} shown`,
	eventsFound: (n: string, of: string) => `${n} of the ${of} that are loaded`,
	export: 'Export',
	liveWaiting: (n: string) => `${n} new – show`,
	liveCut: (n: string) => `Live keeps the newest ${n}. Older events are left out here.`,
	liveOlder: 'Show the older ones',
	eventKeys: 'Arrow keys move, Enter opens, + or a double click keeps only and − leaves out the value, m opens its menu.',
	loadMore: 'Load older events',
} as const;
