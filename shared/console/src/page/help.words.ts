// The texts of the list of the keyboard shortcuts.

export const words = {
	title: 'Keyboard shortcuts',
	close: 'Close',
	shortcuts: [
		['/', 'Filter'], ['g d', 'Dashboard'], ['g e', 'Events'], ['g c', 'Compare'], ['g t', 'Try a rule'],
		['g r', 'Reports'], ['g p', 'Planets'], ['g s', 'Status'], ['t', 'Period'],
		['Ctrl-Space', 'What fits at the caret, in the filter'],
		['Ctrl-R', 'Saved filters and history, in the filter'], ['q', 'Find in the rows of the events'],
		['x', 'What the question means and costs'], ['f', 'Values of fields, beside the answer'],
		['[ ]', 'Earlier, later'],
		['z', 'Twice as long a period'], ['r', 'Ask again'],
		['Shift-→', 'Select segments, in a chart'],
		['l', 'Live, on or off'], ['j k', 'Next, previous row or record'], ['Enter', 'Open the row'],
		['+ −', 'Only, without the value'], ['m', 'Menu of the value'], ['y', 'Copy a link'], ['?', 'This list'],
		['Esc', 'Close, cancel, leave the filter'],
	] as const,
	shortcutsOn: 'Shortcuts of single letters are on',
} as const;
