// What is asked and read as commands of curl.

/** shell quotes a text for a POSIX shell. */
export function shell(text: string): string {
	return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replace(/'/g, `'\\''`)}'`;
}

/** pathAsCurl reads a path of the API. The key is a variable of the shell. */
export function pathAsCurl(base: string, path: string): string {
	return `curl -s ${shell(base + path)} -H "Authorization: Bearer $ORRERY_KEY"`;
}

/** questionAsCurl asks the API for what a screen shows. */
export function questionAsCurl(base: string, route: string, parameters: Readonly<Record<string, unknown>>): string {
	return `${pathAsCurl(base, `data/${route}`)} -H 'Content-Type: application/json' -d ${shell(JSON.stringify(parameters))}`;
}
