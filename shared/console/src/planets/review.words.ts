// The texts of the review of a change of settings.

export const words = {
	loosens: 'This loosens a check',
	trustsAll: (network: string, four: boolean) => `${network} trusts every ${four ? 'IPv4' : 'IPv6'} address.`,
	togetherAll: 'Together, the networks trust every IPv4 address.',
	trustsWide: (network: string, n: string) =>
		`${network} trusts ${n === '' ? 'more networks' : `${n} addresses, more`} than one owner has.`,
	switchedOff: (name: string) => `${name} is switched off.`,
	typeName: ['To go on, type the name of the planet, ', ':'],

	meets: 'Whom it meets',
	meetsIn: (end: string, all: string, config: string) =>
		`In the last 24 hours${end === '' ? '' : ` of the data, to ${end}`}${all === '' ? '' : `, in which ${config} had ${all}`}.`,
	groups: { newly: 'Trusted from now on', noLonger: 'No longer trusted', challenged: 'Shown the interactive challenge' },
	nobody: 'No requests.',
	part: (share: string) => ` (${share})`,
	from: ' from ',
	address: '1 address',
	addresses: (n: string) => `${n} addresses`,
	noneBlocked: 'None of them was blocked.',
	wereBlocked: (n: number) => (n === 1 ? ' of them was blocked.' : ' of them were blocked.'),
	mostly: 'Most of them:',
	notCounted: 'The key may not read requests, so it is not known whom the change meets.',
	filtersTrusted: (names: string) =>
		`What the global filter ${names} matches is trusted, too. Only the gateway knows these requests.`,
} as const;
