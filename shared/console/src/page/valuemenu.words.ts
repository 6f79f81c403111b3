// The texts of the menu of a value.

export const words = {
	only: 'Only',
	without: 'Without',
	copy: 'Copy',
	openEvents: 'Show the events',
	tryLimit: 'Try a limit for these',
	tryBlock: 'Try to block these',
	tryEnforced: 'Try to block by this rule',
	actions: (text: string) => `Actions for ${text}`,
} as const;
