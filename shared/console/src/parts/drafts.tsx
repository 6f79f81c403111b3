// What is edited on several screens: a draft, which is kept in the tab so that neither a reload nor another screen loses it, the
// tabs of an editor, and why a write was refused.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Detail, Refusal } from '../foundation/api';
import { momentIn } from '../pure/time';
import { words } from '../pure/words';

/** A draft names what it began with: the ETag of what was saved, or "" if there was nothing yet. */
interface Begun {
	etag: string;
}

/** What is special about the drafts of something that is saved as S. */
interface Kind<D extends Begun, S> {
	/** begin returns a draft without changes. */
	begin(saved: S): D;
	isChanged(draft: D): boolean;
	/** same reports whether nothing was typed between two drafts. */
	same(a: D, b: D): boolean;
	/** rebased puts what was typed after a draft had been sent on top of what was saved. */
	rebased(sent: D, later: D, saved: S): D;
}

/** A draft and what can be done with it. */
export interface Editing<D, S> {
	draft: D;
	/** keep replaces the draft; null discards it. */
	keep(draft: D | null): void;
	/**
	 * saved takes over that a draft was saved, and what is saved now, or null if that is not known. It reports whether the screen
	 * still shows the draft, and whether something was typed since it had been sent, which stays.
	 */
	saved(sent: D, now: S | null): { shown: boolean; more: boolean };
}

/** useDraft is the draft with a name. It begins anew with what is saved newest unless something is changed. */
export function useDraft<D extends Begun, S>(name: string, newest: S, kind: Kind<D, S>): Editing<D, S> {
	const [kept, setKept] = useState(() => stored<D>(name));
	const [own, setOwn] = useState<{ after: S; now: S } | null>(null); // what this screen saved last, until it is the newest
	const base = own && own.after === newest ? own.now : newest;
	const fresh = useMemo(() => kind.begin(base), [base]);
	const draft = kept !== null && (kept.etag === fresh.etag || kind.isChanged(kept)) ? kept : fresh;
	const latest = useRef<D | null>(draft); // for what runs longer than a drawing; null when the screen is left
	latest.current = draft;
	useEffect(() => () => {
		latest.current = null;
	}, []);
	const store = (next: D | null): void => {
		if (next && kind.isChanged(next)) sessionStorage.setItem(name, JSON.stringify(next));
		else sessionStorage.removeItem(name);
	};
	const keep = (next: D | null): void => {
		store(next);
		setKept(next);
	};
	return {
		draft, keep,
		saved: (sent, now) => {
			const later = latest.current ?? stored<D>(name) ?? sent; // the screen may have been left meanwhile
			const more = !kind.same(sent, later);
			const next = !more ? null : now === null ? later : kind.rebased(sent, later, now);
			if (!latest.current) {
				store(next);
				return { shown: false, more };
			}
			keep(next);
			if (now !== null) setOwn({ after: newest, now });
			return { shown: true, more };
		},
	};
}

function stored<D>(name: string): D | null {
	const text = sessionStorage.getItem(name);
	return text === null ? null : JSON.parse(text) as D;
}

/** Tabs are the tabs of an editor, whose panel has the id NAME-panel. Arrow keys move among them. */
export function Tabs<T extends string>({ name, tab, tabs, texts, open }: {
	name: string; tab: T; tabs: readonly T[]; texts: Readonly<Record<T, string>>; open(tab: T): void;
}) {
	return <div class="tabs" role="tablist" onKeyDown={(event) => {
		const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
		if (by === undefined) return;
		event.preventDefault();
		const next = tabs[(tabs.indexOf(tab) + by + tabs.length) % tabs.length] ?? tab;
		open(next);
		document.getElementById(`${name}-${next}`)?.focus();
	}}>
		{tabs.map((one) => <button type="button" role="tab" key={one} id={`${name}-${one}`} aria-selected={tab === one}
			aria-controls={`${name}-panel`} tabIndex={tab === one ? 0 : -1} onClick={() => open(one)}>{texts[one]}</button>)}
	</div>;
}

/** detailsOf returns the mistakes that a refusal names. */
export function detailsOf(failure: unknown): readonly Detail[] {
	return failure instanceof Refusal ? failure.details : [];
}

/** placeOf writes the place of a mistake: trusted_nets.2.address. */
export function placeOf(loc: readonly (string | number)[]): string {
	return loc.slice(loc[0] === 'body' ? 1 : 0).join('.');
}

/** Failure is why a write was refused, with the mistakes that are not mended yet. It goes with the last one. */
export function Failure({ title, mistakes, failure, close, details = detailsOf(failure) }: {
	title: string; mistakes(n: number): string; failure: unknown; close(): void; details?: readonly Detail[];
}) {
	const refusal = failure instanceof Refusal ? failure : null;
	if (details.length === 0 && detailsOf(failure).length > 0) return null;
	return <section class="trouble failed" role="alert">
		<p><strong>{details.length > 0 ? mistakes(details.length) : title}</strong></p>
		{details.length > 0 ? <ul class="plain-list">{details.map((detail) => <li key={placeOf(detail.loc)}>
			<code>{placeOf(detail.loc)}</code> {detail.msg}</li>)}</ul> :
			<p>{failure instanceof Error ? failure.message : ''}</p>}
		{refusal && refusal.requestID !== '' && <p class="quiet">{words.requestID} <code>{refusal.requestID}</code></p>}
		<button type="button" onClick={close}>{words.close}</button>
	</section>;
}

/** moment writes an instant of the API in a zone. */
export function moment(text: string, zone: string): string {
	return momentIn(Math.floor(Date.parse(text) / 60_000) * 60_000, zone);
}
