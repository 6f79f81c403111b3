// The settings that are being edited.
import type { Got } from '../foundation/api';
import { type Change, differenceOf, merge } from '../pure/difference';
import { type Json, NotJSON, pretty, readJSON } from '../pure/json';

/** A draft, and what it began with: the settings of an ETag, or "" twice if there are none yet. */
export interface Draft {
	base: string;
	etag: string;
	text: string;
	challenge?: string; // the text of its field, as it was typed
}

const newPlanet = '{"name":"__default__","trusted_nets":[],"ichallenge":{"attrs":{},"lang":{},"palette":[],"position":{}}}';

/** laidOut writes settings for people, or as they are if they are not JSON that can be written again. */
export function laidOut(text: string): string {
	try {
		return pretty(readJSON(text));
	} catch {
		return text;
	}
}

/** draftOf begins a draft. */
export function draftOf(newest: Got | null): Draft {
	if (!newest) return { base: '', etag: '', text: laidOut(newPlanet) };
	const text = laidOut(newest.text);
	return { base: text, etag: newest.etag, text };
}

/** jsonOf reads a text; "" is no value. */
export function jsonOf(text: string): { value: Json | undefined; mistake: NotJSON | null } {
	if (text === '') return { value: undefined, mistake: null };
	try {
		return { value: readJSON(text), mistake: null };
	} catch (error) {
		if (error instanceof NotJSON) return { value: undefined, mistake: error };
		throw error;
	}
}

/** changesOf returns what a draft changes, or null if it is not JSON, or empty. */
export function changesOf({ base, text }: Draft): Change[] | null {
	if (text === base) return [];
	const [before, after] = [jsonOf(base), jsonOf(text)];
	return before.mistake || after.mistake || after.value === undefined ? null : differenceOf(before.value, after.value);
}

/** mistakeInChallenge reports whether the text of the challenge is not JSON. Then the settings do not have it. */
export function mistakeInChallenge({ challenge }: Draft): boolean {
	return challenge !== undefined && (challenge.trim() === '' || jsonOf(challenge).mistake !== null);
}

/** isChanged reports whether a draft has something that is not saved. Another layout of the same JSON is nothing. */
export function isChanged(draft: Draft): boolean {
	return changesOf(draft)?.length !== 0 || mistakeInChallenge(draft);
}

/** sameText reports whether nothing was typed between two drafts. */
function sameText(a: Draft, b: Draft): boolean {
	return a.text === b.text && a.challenge === b.challenge;
}

/** rebased puts what was typed after a draft had been sent on top of what was saved. */
function rebased(sent: Draft, later: Draft, saved: Got | null): Draft {
	if (!saved) return later;
	const base = laidOut(saved.text);
	const merged = jsonOf(later.text).mistake ? undefined :
		merge(jsonOf(sent.text).value, jsonOf(later.text).value, jsonOf(base).value, new Map()).merged;
	return { ...later, base, etag: saved.etag, text: merged === undefined ? later.text : pretty(merged) };
}

/** settings are the drafts of settings: those of nothing are an empty text. */
export const settings = { begin: draftOf, isChanged, same: sameText, rebased };
