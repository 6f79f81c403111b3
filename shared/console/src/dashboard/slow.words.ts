// The texts of the slowest targets.

export const words = {
	order: { origin: 'by the average time of the origin', total: 'by the average time in all' },
	times: { total: 'in all', origin: 'origin', svc: 'service' },
	average: 'average',
	longest: 'longest',
} as const;
