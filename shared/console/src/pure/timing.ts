// How long the parts of a request took.
import { type LogRecord, numberOf } from './record';

/** A part of the time of a request, in milliseconds. */
export interface Time {
	name: 'service' | 'origin' | 'rest';
	ms: number;
}

/** timesOf returns the parts of the time of a request, or null if the record does not have its whole time. */
export function timesOf(record: LogRecord): { total: number; parts: Time[] } | null {
	const time = (name: string, unit: number): number => Math.max(0, numberOf(record, name) ?? 0) * unit;
	const [service, origin, whole] = [time('svc_latency', 1e-3), time('upstream_response_time', 1e3), time('request_time', 1e3)];
	if (whole === 0) return null;
	const parts: Time[] = [
		{ name: 'service', ms: service }, { name: 'origin', ms: origin }, { name: 'rest', ms: whole - service - origin },
	];
	return { total: Math.max(whole, service + origin), parts: parts.filter(({ ms }) => ms >= whole * leastPart) };
}

const leastPart = 0.001; // less is not seen
