// The texts of the chooser of columns.

export const words = {
	shown: 'Shown, in this order',
	others: 'More columns',
	drag: 'Drag to move',
	keys: 'Alt and the arrow keys move it, too.',
	up: (name: string) => `Move ${name} to the left`,
	down: (name: string) => `Move ${name} to the right`,
	at: (name: string, place: number, of: number) => `${name} is column ${place} of ${of}`,
	off: (name: string) => `${name} is not shown`,
	add: 'Add a field',
	addIt: 'Add',
	choose: 'choose a field',
	usual: 'Usual columns',
	kept: 'This browser keeps them. A link names them.',
} as const;
