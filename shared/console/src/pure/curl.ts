// Questions as commands of curl.

/** shell quotes a text for a POSIX shell. */
export function shell(text: string): string {
	return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replace(/'/g, `'\\''`)}'`;
}

/** questionAsCurl asks the API for what a screen shows. The key is a variable of the shell. */
export function questionAsCurl(base: string, route: string, parameters: Readonly<Record<string, unknown>>): string {
	const body = JSON.stringify(parameters);
	return `curl -s ${shell(`${base}data/${route}`)} -H "Authorization: Bearer $ORRERY_KEY"` +
		` -H 'Content-Type: application/json' -d ${shell(body)}`;
}
