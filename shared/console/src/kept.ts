// The columns of the events that this browser shows if the address names none.

const setting = 'orrery.columns';

export function keptColumns(): string[] | null {
	return localStorage.getItem(setting)?.split(',') ?? null;
}

/** keepColumns keeps columns; null are the usual ones. */
export function keepColumns(columns: readonly string[] | null): void {
	if (columns) localStorage.setItem(setting, columns.join());
	else localStorage.removeItem(setting);
}
