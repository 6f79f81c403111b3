// Export: all matching events to a file, page by page. The browser writes them to the disk as they come if it can;
// otherwise it keeps them in memory, and saves a file whenever that is much.
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';
import type { API, Parameters } from '../foundation/api';
import { useConsole } from '../foundation/context';
import { announced, saveFile } from '../parts/menu';
import { after, type Event, type Exporting, notBegun } from '../pure/exporting';
import { ago, bytes, count } from '../pure/format';
import { contentOf, fileName, type Format, type Frame, frameOf, recordsIn, wireOf } from '../pure/pieces';
import { addUp, type Estimate, isHeavy, priceOf } from '../pure/price';
import type { Period } from '../pure/time';
import { words } from './export.words';

const pageSize = 2500; // the largest page of the API
const pieceSize = 200_000_000; // bytes that are kept in memory until they are saved

interface Props {
	filters: string; // with the period
	period: Period;
	fields: readonly string[]; // of the columns of the list
	total: number; // matching events
	close(): void;
}

/** Where an export goes. */
interface Sink {
	/** write adds the records of a page. */
	write(content: Uint8Array<ArrayBuffer>, frame: Frame): Promise<void>;
	/** close completes the file; without that it is not complete. */
	close(incomplete: boolean): Promise<void>;
	abort(): Promise<void>;
	readonly files: number;
}

/** An export that goes on. */
interface Run {
	sink: Sink;
	own: AbortController;
	frame: Frame | null; // of its files, as soon as there is a page
}

/** Export chooses what a file has, shows what it costs, and writes it. */
export function Export({ filters, period, fields, total, close }: Props) {
	const { api } = useConsole();
	const dialog = useRef<HTMLDialogElement>(null);
	const [format, setFormat] = useState<Format>('csv');
	const [all, setAll] = useState(false);
	const now = useRef<Exporting>(notBegun);
	const [, redraw] = useReducer((n: number) => n + 1, 0);
	const happens = (event: Event): void => {
		now.current = after(now.current, event);
		redraw(0);
	};
	const run = useRef<Run | null>(null);
	useLayoutEffect(() => dialog.current?.showModal(), []);
	useEffect(() => () => run.current?.own.abort(), []);
	const parameters = { filters, limit: pageSize, format: wireOf(format), ...(all ? {} : { fields }) };
	const pages = Math.max(1, Math.ceil(total / pageSize));
	const estimate = usePrice(filters, all ? null : fields, pages);
	const heavy = estimate.price !== null && isHeavy(estimate.price);
	const goOn = async (r: Run): Promise<void> => {
		happens({ kind: 'begun' });
		try {
			while (now.current.more) await copyPage(api, { parameters, format, now: now.current }, r, happens);
			await r.sink.close(now.current.skipped > 0);
			happens({ kind: 'closed' });
		} catch (error) {
			if (!r.own.signal.aborted) return happens({ kind: 'failed', note: error instanceof Error ? error.message : String(error) });
			await r.sink.abort().catch(() => undefined); // nothing of it is needed
			happens({ kind: 'cancelled' });
		}
	};
	const begin = async (): Promise<void> => {
		try {
			run.current = { sink: await sinkFor(period, format), own: new AbortController(), frame: null };
		} catch (error) {
			const chosen = !(error instanceof DOMException && error.name === 'AbortError'); // else the reader chose no file
			return chosen ? happens({ kind: 'failed', note: words.notWritten }) : undefined;
		}
		await goOn(run.current);
	};
	const r = run.current;
	const { state, note, skipped } = now.current;
	const events = count(now.current.events);
	const size = bytes(now.current.size);
	return <dialog class="export" ref={dialog} aria-labelledby="export-title" onClose={() => {
		run.current?.own.abort();
		close();
	}}>
		<div class="box">
			<h2 id="export-title">{words.title}</h2>
			<fieldset disabled={state !== 'asked'}>
				<legend>{words.format}</legend>
				{(['csv', 'ndjson', 'json'] as const).map((one) => <label key={one}>
					<input type="radio" name="format" checked={format === one} onChange={() => setFormat(one)} /> {words.formats[one]}
				</label>)}
			</fieldset>
			<fieldset disabled={state !== 'asked'}>
				<legend>{words.columns}</legend>
				<label><input type="radio" name="members" checked={!all} onChange={() => setAll(false)} /> {words.shown(fields.join(', '))}
				</label>
				<label><input type="radio" name="members" checked={all} onChange={() => setAll(true)} /> {words.all}</label>
			</fieldset>
			<p>{words.about(`${count(total)} ${total === 1 ? 'event' : 'events'}`, words.pages(pages))} {estimate.asking ?
				estimate.busy || words.estimating : estimate.price ? words.price(priceOf(estimate.price)) : words.noPrice}{' '}
				{heavy && <strong class="late-price">{words.heavy}</strong>}</p>
			<div role="status">
				{state === 'running' && <>
					<progress value={now.current.events} max={Math.max(1, total)} aria-label={words.title} />
					<p>{words.running(events, count(total), size)} <span class="quiet">{note}</span></p>
				</>}
				{state === 'done' && <p><strong>{words.done(events, size)}</strong>{' '}
					{r && r.sink.files > 1 && words.files(r.sink.files)}</p>}
				{state === 'cancelled' && <p>{words.cancelled(events)}</p>}
				{state === 'failed' && <p class="wrong-text">{words.failed(events)} {note}</p>}
				{state === 'asked' && note !== '' && <p class="wrong-text">{note}</p>}
				{skipped > 0 && <p class="wrong-text">{words.skipped(skipped)}</p>}
			</div>
			<div class="row">
				{state === 'asked' && <button type="button" class="primary" disabled={estimate.asking} onClick={() => void begin()}>
					{heavy ? words.startHeavy : words.start}</button>}
				{state === 'failed' && r && <button type="button" class="primary" onClick={() => void goOn(r)}>{words.goOn}</button>}
				{state === 'running' ? <button type="button" onClick={() => r?.own.abort()}>{words.cancel}</button> :
					<button type="button" onClick={() => dialog.current?.close()}>{words.close}</button>}
			</div>
		</div>
	</dialog>;
}

/** usePrice asks what the export costs: if each question has a price, that of all. */
function usePrice(filters: string, fields: readonly string[] | null, pages: number): {
	asking: boolean; busy: string; price: Estimate | null;
} {
	const { api } = useConsole();
	const [busy, setBusy] = useState('');
	const [found, setFound] = useState<{ of: string; price: Estimate | null }>({ of: '', price: null });
	const of = `${fields?.join() ?? ''} ${filters}`;
	useEffect(() => {
		const own = new AbortController();
		const show = (one: Estimate | null): void => {
			const times = one?.cost_usd ? Array.from({ length: pages }, () => one) : one ? [one] : [];
			setFound({ of, price: one && addUp(times) });
		};
		api.estimate('logs', { filters, limit: pageSize, ...(fields ? { fields } : {}) }, own.signal, announced(setBusy))
			.then(show, () => !own.signal.aborted && show(null)); // the export itself reports what is wrong
		return () => own.abort();
	}, [of]);
	return { asking: found.of !== of, busy, price: found.of === of ? found.price : null };
}

/** What an export copies, and how far it is. */
interface Copied {
	parameters: Parameters;
	format: Format;
	now: Exporting;
}

/** copyPage writes the next page. */
async function copyPage(api: API, { parameters, format, now }: Copied, run: Run, happens: (event: Event) => void): Promise<void> {
	const asked = now.next === null ? parameters : { ...parameters, cursor: now.next };
	const { content: page, next, skipped } = await api.page(asked, run.own.signal, {
		running: () => happens({ kind: 'running', note: words.runsOn }),
		waiting: (until) => happens({ kind: 'waiting', note: until === null ? '' : words.busy(ago(until - Date.now())) }),
	});
	run.frame ??= frameOf(format, page);
	const content = contentOf(format, page);
	const only = next === null && now.events === 0; // a file without records has its frame
	if (content.length > 0 || only) await run.sink.write(content, run.frame);
	run.own.signal.throwIfAborted();
	happens({ kind: 'written', events: recordsIn(page, wireOf(format)), size: content.length, skipped, next });
}

interface Writable {
	write(content: Uint8Array<ArrayBuffer>): Promise<void>;
	close(): Promise<void>;
	abort(): Promise<void>;
}

interface FilePicker {
	showSaveFilePicker?(options: { suggestedName: string }): Promise<{ createWritable(): Promise<Writable> }>;
}

/** sinkFor returns the file that the reader chooses, or one in memory where the browser cannot write files. */
async function sinkFor(period: Period, format: Format): Promise<Sink> {
	const { showSaveFilePicker } = window as FilePicker;
	if (!showSaveFilePicker) return inMemory(period, format);
	const handle = await showSaveFilePicker({ suggestedName: fileName(period, format, 0, false) });
	const file = await handle.createWritable();
	let frame: Frame | null = null;
	return {
		write: async (content, own) => {
			await file.write(joined(frame ? own.between : own.before, content));
			frame = own;
		},
		close: async () => {
			if (frame && frame.behind.length > 0) await file.write(frame.behind);
			await file.close();
		},
		abort: () => file.abort(),
		files: 1,
	};
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
	const both = new Uint8Array(a.length + b.length);
	both.set(a);
	both.set(b, a.length);
	return both;
}

/** inMemory keeps an export in memory, and saves a piece of it whenever it is large. Each piece is a whole file of its format. */
function inMemory(period: Period, format: Format): Sink {
	let parts: Uint8Array<ArrayBuffer>[] = [];
	let [size, saved] = [0, 0];
	let behind = new Uint8Array();
	const save = (incomplete: boolean, piece: number): void => {
		saveFile(fileName(period, format, piece, incomplete), new Blob([...parts, behind], { type: types[format] }));
		[parts, size] = [[], 0];
		saved++;
	};
	return {
		write: (content, frame) => {
			behind = frame.behind;
			if (size > 0 && size + content.length > pieceSize) save(false, saved + 1);
			parts.push(parts.length === 0 ? frame.before : frame.between, content);
			size += content.length;
			return Promise.resolve();
		},
		close: (incomplete) => {
			save(incomplete, saved === 0 ? 0 : saved + 1);
			return Promise.resolve();
		},
		abort: () => Promise.resolve(),
		get files() {
			return saved;
		},
	};
}

const types: Readonly<Record<Format, string>> = { csv: 'text/csv', ndjson: 'application/x-ndjson', json: 'application/json' };
