// The texts of the form for the key.

export const words = {
	key: 'API key',
	keyNeeded: 'This server needs an API key.',
	keyRefused: 'The server does not know this key.',
	keyHint: 'It stays in this tab and is sent to this server only.',
	keyUse: 'Use the key',
} as const;
