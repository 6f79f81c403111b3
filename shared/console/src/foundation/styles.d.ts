// A style sheet that a script imports is its name in dist; see scripts/console.
declare module '*.css' {
	const name: string;
	export default name;
}
