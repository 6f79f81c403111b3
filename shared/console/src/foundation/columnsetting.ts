// The columns of the events that this browser shows if the address names none.

const setting = 'orrery.columns';

export function keptColumns(): string[] | null {
	return localStorage.getItem(setting)?.split(',') ?? null;
}

/** keepColumns keeps columns, null being the usual ones, and goes to an address that shows them. Back keeps those before again. */
export function keepColumns(columns: readonly string[] | null, go: () => void): void {
	noteKept();
	keep(columns);
	go();
	noteKept();
}

function keep(columns: readonly string[] | null): void {
	if (columns) localStorage.setItem(setting, columns.join());
	else localStorage.removeItem(setting);
}

/** noteKept lets the entry of the history have the columns that are kept now. */
function noteKept(): void {
	history.replaceState({ kept: keptColumns() }, '');
}

addEventListener('popstate', ({ state }: PopStateEvent) => {
	const noted = state as { kept: string[] | null } | null;
	if (noted) keep(noted.kept);
});
