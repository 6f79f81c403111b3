// The dialog that imports a log: it is dropped or chosen, its first record is shown, it is sent, and the import can be undone.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Refusal, refusalOf, Unreachable } from '../foundation/api';
import { useConsole } from '../foundation/context';
import { readKey } from '../foundation/key';
import { bytes, count } from '../pure/format';
import { factsOf, type Imported, lengthShown, pathOf, pathOfImport, type Sample, type State, together } from '../pure/imports';
import type { Installation } from '../pure/installation';
import { absolute, momentIn } from '../pure/time';
import { words as common } from '../pure/words';
import { words } from './imports.words';

/** ImportLog imports logs, one after the other. */
export function ImportLog({ logs, close }: { logs: readonly File[]; close(): void }) {
	const { api, ask, go, zone } = useConsole();
	const dialog = useRef<HTMLDialogElement>(null);
	const own = useRef(new AbortController()); // of what is asked now
	const [chosen, choose] = useState(logs);
	const [at, setAt] = useState(0); // index of the log that is imported
	const [state, setState] = useState<State>({ is: 'asked' });
	const [host, setHost] = useState('');
	const [able, setAble] = useState<Able>('unknown');
	const [refused, refuse] = useState(''); // what was dropped while a log was imported
	const [late, setLate] = useState(false); // it was cancelled after all of it was sent
	const log = chosen[at];
	useLayoutEffect(() => dialog.current?.showModal(), []);
	useEffect(() => () => own.current.abort(), []);
	useEffect(() => dialog.current?.querySelector<HTMLElement>('.primary')?.focus(), [state.is]); // what the reader is likely to do next
	useEffect(() => { // what the server and the key allow
		const read = ({ text }: { text: string }): Able => ableOf((JSON.parse(text) as { data: Installation }).data);
		api.get('status', own.current.signal).then(read, () => 'able' as const).then(setAble);
	}, []);
	useEffect(() => { // more logs were dropped
		const running = state.is === 'sending' || state.is === 'undoing';
		refuse(running ? logs.map((one) => one.name).join(', ') : '');
		if (running) return;
		choose(logs);
		setAt(0);
	}, [logs]);
	const fail = (error: unknown, sample: Sample | null, signal: AbortSignal): void => {
		if (signal.aborted) return;
		const doubted = error instanceof Refusal && error.details.some((d) => d.type === 'unconfirmed');
		setState({ is: 'failed', message: messageOf(error), sample, doubted });
	};
	useEffect(() => { // what the log is
		if (!log || able !== 'able') return;
		const asked = own.current = new AbortController();
		setState({ is: 'reading' });
		(async () => {
			const start = new Uint8Array(await log.slice(0, 4).arrayBuffer());
			const path = pathOf('samples', log.name, {});
			const text = await send(api.base + path, log.slice(0, lengthShown(log.size, start)), asked.signal, () => undefined);
			if (!asked.signal.aborted) setState({ is: 'shown', sample: (JSON.parse(text) as { data: Sample }).data });
		})().catch((error: unknown) => fail(error, null, asked.signal));
		return () => asked.abort();
	}, [log, able]);
	const start = (sample: Sample | null, anyway: boolean): void => {
		if (!log) return;
		const asked = own.current = new AbortController();
		const sending = (sent: number): void => { sample && setState({ is: 'sending', sample, sent }); };
		setLate(false);
		sending(0);
		send(api.base + pathOf('imports', log.name, { sample, host: host.trim(), anyway }), log, asked.signal, sending).then((text) => {
			setState({ is: 'done', logs: (JSON.parse(text) as { data: { results: Imported[] } }).data.results });
			ask();
		}).catch((error: unknown) => fail(error, sample, asked.signal));
	};
	const cancel = (): void => {
		if (state.is !== 'sending') return;
		if (state.sent === 1) return setLate(true); // the server may have it already
		own.current.abort();
		setState({ is: 'shown', sample: state.sample });
	};
	const undo = (done: readonly Imported[]): void => {
		setState({ is: 'undoing', logs: done });
		(async () => {
			let records = 0;
			for (const id of together(done).ids) {
				const text = await send(api.base + pathOfImport(id), null, new AbortController().signal, () => undefined);
				records += (JSON.parse(text) as { data: { records: number } }).data.records;
			}
			setState({ is: 'undone', records });
			ask();
		})().catch((error: unknown) => setState({ is: 'kept', logs: done, message: messageOf(error) }));
	};
	const moment = (ms: number): string => `${momentIn(Math.floor(ms / 1000) * 1000, zone)} ${zone}`;
	const next = at + 1 < chosen.length && <button type="button" onClick={() => setAt(at + 1)}>{words.next}</button>;
	const busy = state.is === 'sending' || state.is === 'undoing';
	return <dialog class="import" ref={dialog} aria-labelledby="import-title" onClose={() => {
		own.current.abort();
		close();
	}}>
		<div class="box">
			<h2 id="import-title">{common.importLog}{log && `: ${log.name}`}</h2>
			{chosen.length > 1 && <p class="quiet">{words.of(at + 1, chosen.length)}</p>}
			{able === 'impossible' && <p>{words.impossible}</p>}
			{able === 'forbidden' && <p>{words.forbidden}</p>}
			{able === 'able' && (!log || state.is === 'asked') && <Place choose={choose} />}
			<div role="status">
				{state.is === 'reading' && <p>{words.reading(log?.name ?? '')}</p>}
				{state.is === 'sending' && <>
					<progress value={state.sent} max={1} aria-label={common.importLog} />
					<p>{state.sent < 1 ? words.sending(`${Math.floor(state.sent * 100)} %`, bytes(log?.size ?? 0)) :
						late ? words.mayBeLate : words.storing}</p>
				</>}
				{refused !== '' && <p class="warning">{words.busy(refused)}</p>}
				{late && state.is === 'done' && <p class="warning">{words.late}</p>}
				{state.is === 'undoing' && <p>{words.undoing}</p>}
				{state.is === 'undone' && <p>{words.undone(state.records, count(state.records))}</p>}
				{state.is === 'failed' && <><p class="wrong-text"><strong>{words.failed}</strong></p><pre>{state.message}</pre></>}
				{state.is === 'kept' && <><p class="wrong-text"><strong>{words.kept}</strong></p><pre>{state.message}</pre></>}
				{state.is === 'done' && <Done logs={state.logs} moment={moment} />}
			</div>
			{state.is === 'shown' && <Shown sample={state.sample} moment={moment} host={host} setHost={setHost} />}
			<div class="row">
				{state.is === 'shown' &&
					<button type="button" class="primary" onClick={() => start(state.sample, false)}>{words.start}</button>}
				{state.is === 'failed' && state.doubted &&
					<button type="button" onClick={() => start(state.sample, true)}>{words.anyway}</button>}
				{state.is === 'failed' && <button type="button" onClick={() => {
					choose([]);
					setAt(0);
					setState({ is: 'asked' });
				}}>{words.another}</button>}
				{state.is === 'done' && <Show logs={state.logs} show={(period) => {
					go({ screen: 'dashboard', filter: '', period: absolute(period), record: null });
					dialog.current?.close();
				}} />}
				{(state.is === 'done' || state.is === 'kept') && together(state.logs).ids.length > 0 &&
					<button type="button" onClick={() => undo(state.logs)}>{words.undo}</button>}
				{['done', 'undone', 'kept', 'failed'].includes(state.is) && next}
				{busy ? state.is === 'sending' && !late && <button type="button" onClick={cancel}>{words.cancel}</button> :
					<button type="button" onClick={() => dialog.current?.close()}>{words.close}</button>}
			</div>
		</div>
	</dialog>;
}

/** Able is whether the server imports logs, and the key may. */
type Able = 'unknown' | 'able' | 'impossible' | 'forbidden';

/** ableOf reports whether the server imports logs, and the key may. */
function ableOf({ features, key }: Installation): Able {
	if (!features.includes('import-log')) return 'impossible';
	return key === null || (key.scopes.includes('data:write') && key.branches === null) ? 'able' : 'forbidden';
}

/** Place is where a log is dropped or chosen. The whole page takes what is dropped. */
function Place({ choose }: { choose(files: readonly File[]): void }) {
	return <label class="place">
		<strong>{words.ask}</strong>
		<input type="file" multiple onChange={(event) => choose([...(event.currentTarget.files ?? [])])} />
		<span class="quiet">{words.askHint}</span>
	</label>;
}

/** Shown is what the beginning of a log shows. */
function Shown({ sample, moment, host, setHost }: {
	sample: Sample; moment(ms: number): string; host: string; setHost(text: string): void;
}) {
	const facts = sample.first && factsOf(sample.first);
	const list = (rows: readonly [string, string][]) => <dl>
		{rows.map(([name, value]) => <><dt class="quiet">{name}</dt><dd>{value}</dd></>)}
	</dl>;
	return <>
		<p>{words.format(sample.format_name, sample.compression)} {sample.from && words.begins(moment(Date.parse(sample.from)))}</p>
		{sample.guessed && <p class="warning">{words.guessed}</p>}
		{sample.problem !== '' && <p class="warning">{words.problem(sample.problem)}</p>}
		{facts ? <section aria-labelledby="first-record">
			<h3 id="first-record">{words.first}</h3>
			{list(facts.first)}
			{facts.others.length > 0 && <details><summary>{words.others(facts.others.length)}</summary>{list(facts.others)}</details>}
		</section> : <p>{words.noRecord}</p>}
		{sample.first && !('host' in sample.first) && <label class="field"><span class="label">{words.host}</span>
			<input value={host} placeholder={words.hostHint} autocomplete="off" spellcheck={false}
				onInput={(event) => setHost(event.currentTarget.value)} /></label>}
	</>;
}

/** Done is what was imported. */
function Done({ logs, moment }: { logs: readonly Imported[]; moment(ms: number): string }) {
	const all = together(logs);
	const failed = logs.filter((log) => log.error !== '');
	const rejected = logs.flatMap((log) => (log.first_rejected === '' ? [] : [log.first_rejected]));
	const absent = [...new Set(logs.flatMap((log) => (log.records > 0 ? log.absent : [])))];
	return <>
		<p><strong>{all.records === 0 && all.known > 0 ? words.nothingNew : words.records(all.records, count(all.records))}</strong>{' '}
			{all.records > 0 && all.period && words.period(moment(all.period.from), moment(all.period.to))}{' '}
			{all.records > 0 && all.known > 0 && words.known(all.known, count(all.known))}{' '}
			{all.expired > 0 && words.expired(all.expired, count(all.expired))}{' '}
			{absent.length > 0 && words.absent(absent.join(', '))}</p>
		{all.rejected > 0 && <><p class="warning">{words.rejected(all.rejected, count(all.rejected))}</p><pre>{rejected[0]}</pre></>}
		{failed.map((log) => <p key={log.log} class="warning">{log.log}: {log.error}</p>)}
	</>;
}

/** Show leads to the records of an import. */
function Show({ logs, show }: { logs: readonly Imported[]; show(period: { from: number; to: number }): void }) {
	const { period } = together(logs);
	const whole = (ms: number): number => Math.floor(ms / 1000) * 1000;
	return period && <button type="button" class="primary" onClick={() => show({ from: whole(period.from), to: whole(period.to) + 999 })}>
		{words.show}</button>;
}

/** messageOf is why a request failed. */
function messageOf(error: unknown): string {
	if (error instanceof Unreachable) return words.offline;
	const text = error instanceof Error ? error.message : String(error);
	return text.replace(/\. To import it nevertheless, send anyway=true$/, '.');
}

/** send sends a log, or without one a DELETE, and says how much of it was sent. fetch does not tell that. */
function send(url: string, log: Blob | null, signal: AbortSignal, sent: (part: number) => void): Promise<string> {
	return new Promise((resolve, reject) => {
		const request = new XMLHttpRequest();
		request.open(log ? 'POST' : 'DELETE', url);
		request.setRequestHeader('X-Orrery-Import', 'true');
		if (log) request.setRequestHeader('Content-Type', 'application/octet-stream');
		const key = readKey();
		if (key !== '') request.setRequestHeader('Authorization', `Bearer ${key}`);
		request.upload.onprogress = (event) => sent(event.total === 0 ? 1 : event.loaded / event.total);
		request.onload = () => {
			if (request.status === 200) return resolve(request.responseText);
			reject(refusalOf(new Response(null, { status: request.status }), request.responseText));
		};
		request.onerror = () => reject(new Unreachable('unreachable'));
		signal.addEventListener('abort', () => request.abort());
		request.send(log);
	});
}
