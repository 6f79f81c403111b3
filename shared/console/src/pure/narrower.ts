// Shorter periods, which cost less.
import { absolute, lengthOf, type Period } from './time';

/** The last part of a period, as a preset of the picker names its length. */
export interface Shorter {
	name: string;
	period: string; // as the address has it: one that ends now stays relative
	part: Period;
}

const most = 3;

/** shorter returns the longest presets that are shorter than a period. */
export function shorter(text: string, period: Period): Shorter[] {
	const names = ['15m', '1h', '6h', '24h', '7d'].filter((name) => (lengthOf(name) ?? 0) < period.to - period.from);
	return names.slice(-most).map((name) => {
		const part = { from: period.to - (lengthOf(name) ?? 0), to: period.to };
		return { name, part, period: lengthOf(text) === null ? absolute(part) : name };
	});
}
