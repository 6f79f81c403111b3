// The texts of the configurations.

export const words = {
	title: 'Configurations',
	other: 'Another configuration',
	hint: 'Its name',
	open: 'Open',
	wrongName: 'Letters, digits, “_”, “.” and “-”, at most 64.',
	notAll: 'This key may not read data, so their names are not known here. Open yours by its name.',
} as const;
