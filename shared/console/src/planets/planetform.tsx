// The form of a planet: its name, the trusted networks, and the interactive challenge.
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { count } from '../pure/format';
import { equalJSON, type Json, lineOf, type Members, NotJSON, pretty, readJSON, textAt } from '../pure/json';
import { compareNetworks, insideOf, linesOf, sizeOf } from '../pure/networklists';
import { reachOf } from '../pure/trust';
import { words } from './planets.words';

interface Props {
	settings: Members;
	change(settings: Members): void;
	challenge: string | undefined; // the text of its field, as it was typed
	changeChallenge(text: string): void;
	wrong: ReadonlyMap<string, string>; // what the server found, by places
}

/** Form edits settings. What it does not know, it keeps. */
export function Form(props: Props) {
	const { settings, change, challenge, changeChallenge, wrong } = props;
	const set = (name: string, value: Json): void => change(new Map(settings).set(name, value));
	const others = [...settings.keys()].filter((name) => !['id', 'name', 'trusted_nets', 'ichallenge'].includes(name));
	return <div class="form">
		<div class="field">
			<label for="planet-name">{words.name}</label>
			<Text id="planet-name" value={textAt(settings, 'name')} wrong={wrong.get('name')} change={(text) => set('name', text)} />
		</div>
		<Networks {...props} />
		<Challenge value={settings.get('ichallenge')} typed={challenge} change={changeChallenge}
			wrong={[...wrong].filter(([place]) => place.startsWith('ichallenge'))} />
		{others.length > 0 && <p class="quiet">{words.others(others.join(', '))}</p>}
	</div>;
}

/** Text is a field for a text, with what is wrong with it. */
function Text({ id, value, wrong, change, label, placeholder }: {
	id: string; value: string; wrong: string | undefined; change(text: string): void; label?: string; placeholder?: string;
}) {
	return <>
		<input id={id} value={value} spellcheck={false} autocomplete="off" aria-label={label} placeholder={placeholder}
			aria-invalid={wrong !== undefined} aria-describedby={wrong === undefined ? undefined : `${id}-wrong`}
			onInput={(event) => change(event.currentTarget.value)} />
		{wrong !== undefined && <small id={`${id}-wrong`} class="wrong-text">{wrong}</small>}
	</>;
}

const drawn = 200; // rows, until all are wanted

function entriesOf(settings: Members): Members[] {
	const list = settings.get('trusted_nets');
	return Array.isArray(list) ? list.map((entry) => (entry instanceof Map ? entry : new Map<string, Json>())) : [];
}

/** Networks is the table of the trusted networks. */
function Networks({ settings, change, wrong }: Props) {
	const [find, setFind] = useState('');
	const [all, setAll] = useState(false);
	const [pasting, setPasting] = useState(false);
	const entries = entriesOf(settings);
	const addresses = entries.map((entry) => (isFilter(entry) ? '' : textAt(entry, 'address')));
	const key = addresses.join('\n');
	const inside = useMemo(() => insideOf(addresses), [key]);
	const size = useMemo(() => sizeOf(addresses), [key]);
	const fresh = useRef(false); // a row was added, and the focus goes there
	const table = useRef<HTMLTableElement>(null);
	useLayoutEffect(() => {
		if (!fresh.current) return;
		fresh.current = false;
		table.current?.querySelector<HTMLElement>(`#net-${entries.length - 1}`)?.focus();
	});
	const put = (list: Members[]): void => change(new Map(settings).set('trusted_nets', list));
	const rows = entries.map((entry, i) => ({ entry, i })).filter(({ entry }) => find === '' ||
		[...entry.values()].some((value) => typeof value === 'string' && value.toLowerCase().includes(find.toLowerCase())));
	const shown = all ? rows : rows.slice(0, drawn);
	return <section class="networks">
		<div class="row between">
			<h3>{words.networks} <small>{coverOf(size)}</small></h3>
			<span class="row">
				{(entries.length > 10 || find !== '') && <input class="find" type="search" aria-label={words.find} placeholder={words.find}
					value={find} onInput={(event) => setFind(event.currentTarget.value)} />}
				<button type="button" class="small" disabled={entries.length < 2} onClick={() => put([...entries].sort((a, b) =>
					compareNetworks(textAt(a, 'address'), textAt(b, 'address'))))}>{words.sort}</button>
				<button type="button" class="small" aria-expanded={pasting} onClick={() => setPasting(!pasting)}>{words.paste}</button>
			</span>
		</div>
		{pasting && <Paste add={(list) => {
			setPasting(false);
			put([...entries, ...list]);
		}} />}
		{shown.length > 0 && <table class="nets" ref={table}>
			<thead><tr><th scope="col">{words.kind}</th><th scope="col">{words.address}</th><th scope="col">{words.comment}</th>
				<th><span class="hidden">{words.removeRow('')}</span></th></tr></thead>
			<tbody>{shown.map(({ entry, i }) => <Row key={i} entry={entry} row={i} inside={inside[i] ?? ''} wrong={wrong}
				change={(next) => put(entries.map((one, at) => (at === i ? next : one)))}
				remove={() => put(entries.filter((_, at) => at !== i))} />)}</tbody>
		</table>}
		{entries.length === 0 && <p class="quiet">{words.noNetworks}</p>}
		{entries.length > 0 && rows.length === 0 && <p class="quiet">{words.noneFound}</p>}
		<div class="row">
			<button type="button" onClick={() => {
				setFind('');
				setAll(true);
				put([...entries, entryOf('', '')]);
				fresh.current = true;
			}}>{words.add}</button>
			{shown.length < rows.length && <button type="button" onClick={() => setAll(true)}>{words.showAll(count(rows.length))}</button>}
		</div>
	</section>;
}

function coverOf({ four, six }: { four: number; six: number }): string {
	return [
		...(four === 0 ? [] : [four === 1 ? words.fourOne : words.four(count(four))]),
		...(six === 0 ? [] : [six === 1 ? words.sixOne : words.six(count(six))]),
	].join(', ');
}

const entryOf = (address: string, comment: string): Members => new Map<string, Json>([['address', address], ['comment', comment]]);

function isFilter(entry: Members): boolean {
	return entry.get('source') === 'global_filter';
}

function Row({ entry, row, inside, wrong, change, remove }: {
	entry: Members; row: number; inside: string; wrong: ReadonlyMap<string, string>; change(entry: Members): void; remove(): void;
}) {
	const filter = isFilter(entry);
	const member = filter ? 'gf_id' : 'address';
	const set = (name: string) => (text: string): void => change(new Map(entry).set(name, text));
	const wrongAt = (name: string): string | undefined => wrong.get(`trusted_nets.${row}.${name}`);
	const turn = (kind: string): void => {
		const next = new Map(entry);
		next.delete(member);
		next.set('source', kind);
		change(next.set(kind === 'ip' ? 'address' : 'gf_id', ''));
	};
	const value = textAt(entry, member);
	const reach = filter ? '' : reachOf(value);
	return <tr>
		<td class="kind"><select aria-label={words.kindOf(row + 1)} value={filter ? 'global_filter' : 'ip'}
			onChange={(event) => turn(event.currentTarget.value)}>
			{Object.entries(words.kinds).map(([kind, name]) => <option key={kind} value={kind}>{name}</option>)}</select></td>
		<td class="address"><Text id={`net-${row}`} value={value} label={filter ? words.filterOf(row + 1) : words.addressOf(row + 1)}
			placeholder={filter ? '' : '192.0.2.0/24'} wrong={wrongAt(member) ?? wrongAt('source')} change={set(member)} />
			{inside !== '' && <small class="hint">{inside === value ? words.same(inside) : words.inside(inside)}</small>}
			{reach !== '' && <small class="hint">{words.reach[reach]}</small>}</td>
		<td class="comment"><Text id={`comment-${row}`} value={textAt(entry, 'comment')} label={words.commentOf(row + 1)}
			wrong={wrongAt('comment')} change={set('comment')} /></td>
		<td class="remove"><button type="button" class="icon" aria-label={words.removeRow(value)} title={words.removeRow(value)}
			onClick={remove}>×</button></td>
	</tr>;
}

function Paste({ add }: { add(entries: Members[]): void }) {
	const [text, setText] = useState('');
	const found = linesOf(text);
	return <div class="paste">
		<label for="paste">{words.pasteHint}</label>
		<textarea id="paste" rows={6} spellcheck={false} value={text} placeholder={'192.0.2.0/24 office\n2001:db8::/32 partners'}
			onInput={(event) => setText(event.currentTarget.value)} />
		<button type="button" class="primary" disabled={found.length === 0}
			onClick={() => add(found.map(({ address, comment }) => entryOf(address, comment)))}>{words.pasteAdd(found.length)}</button>
	</div>;
}

/** Challenge edits the interactive challenge as JSON. The text stays as it was typed, also with a mistake. */
function Challenge({ value, typed, change, wrong }: {
	value: Json | undefined; typed: string | undefined; change(text: string): void; wrong: readonly [string, string][];
}) {
	const mistake = typed === undefined ? '' : mistakeOf(typed);
	const own = typed !== undefined && (mistake !== '' || equalJSON(readJSON(typed), value));
	const written = own ? typed : value === undefined ? '' : pretty(value);
	const logo = value instanceof Map ? imageOf(value.get('attrs')) : '';
	const palette = value instanceof Map ? value.get('palette') : undefined;
	const colours = (Array.isArray(palette) ? palette : [])
		.filter((colour): colour is string => typeof colour === 'string' && /^#[0-9a-f]{3,8}$/i.test(colour));
	return <section class="challenge">
		<h3><label for="challenge">{words.challenge}</label> <small>{words.challengeHint}</small></h3>
		<div class="with-logo">
			<textarea id="challenge" class="json" rows={Math.min(24, written.split('\n').length + 1)} spellcheck={false}
				value={written} aria-invalid={mistake !== '' || wrong.length > 0} aria-describedby="challenge-wrong"
				onInput={(event) => change(event.currentTarget.value)} />
			{(logo !== '' || colours.length > 0) && <div class="look">
				{logo !== '' && <img src={logo} alt={words.logo} />}
				<span class="colours">{colours.map((colour, i) => <span key={i} title={colour} style={{ background: colour }} />)}</span>
			</div>}
		</div>
		<div id="challenge-wrong" role="status">
			{mistake !== '' && <p class="wrong-text">{mistake}</p>}
			{wrong.map(([place, message]) => <p class="wrong-text" key={place}><code>{place}</code> {message}</p>)}
		</div>
	</section>;
}

function mistakeOf(text: string): string {
	try {
		readJSON(text);
		return '';
	} catch (error) {
		if (!(error instanceof NotJSON)) throw error;
		const { line, column } = lineOf(text, error.at);
		return words.mistakeAt(line, column, error.message);
	}
}

/** imageOf returns the first image among the attributes. */
function imageOf(attrs: Json | undefined): string {
	if (!(attrs instanceof Map)) return '';
	return [...attrs.values()].find((value): value is string => typeof value === 'string' && value.startsWith('data:image/')) ?? '';
}
