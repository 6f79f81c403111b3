// The report of every Monday: its definition and its name.
import type { Definition } from './schedule';

/** everyMonday is the definition of a weekly report about the requests of a filter. The server chooses the time of day. */
export function everyMonday(filter: string, tz: string, deliver: Definition['deliver']): Partial<Definition> {
	return { ...(filter.trim() === '' ? {} : { filters: filter }), period: 'week', weekday: 'monday', tz, deliver };
}

/** freeName returns the first of weekly, weekly-2, weekly-3, … that no report has. */
export function freeName(taken: readonly string[]): string {
	let n = 1;
	const name = (): string => (n === 1 ? 'weekly' : `weekly-${n}`);
	while (taken.includes(name())) n++;
	return name();
}
