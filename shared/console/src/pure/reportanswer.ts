// The types of a report in JSON. Written by go run ./scripts/console from package report; do not edit.
import type { IncidentResult, Mark } from './answers';

export interface Document {
	notices: string[];
	report: Report;
	run: Run;
}

export interface Report {
	title: string;
	template: 'traffic' | 'attack';
	filter: string;
	fingerprint?: string;
	tz: string;
	period: Span;
	previous: Span | null;
	gaps: Span[];
	gaps_before: Span[];
	verdict: Verdict;
	incidents: Incident[] | null;
	marks: Mark[] | null;
	figures: Figure[];
	chart: Chart;
	attackers: List[];
	targets: List[];
	rules: List[];
	passed: List[];
	changes: Change[];
	compared: boolean;
	wrong: List[];
	examples: Record[];
	failed: Failed[];
	link?: string;
}

export interface Run {
	questions: number;
	bytes_scanned: number;
	cost_usd?: number;
	elapsed_ms: number;
	complete_through: string | null;
	newest: string | null;
	skipped?: string[];
	demo?: boolean;
	scheduled?: Scheduled;
}

export interface Span {
	from: string;
	to: string;
	text: string;
}

export interface Verdict {
	state: string;
	sentences: Sentence[];
}

export interface Incident extends IncidentResult {
	link?: string;
}

export interface Figure {
	id: 'requests'
		| 'blocked'
		| 'challenges'
		| 'monitored'
		| 'human'
		| 'origin_blocked'
		| 'average_time'
		| 'p99_time'
		| 'bytes_sent';
	label: string;
	unit: 'requests' | 'seconds' | 'bytes';
	value: number | null;
	previous: number | null;
	absent?: boolean;
	saturated?: boolean;
	incomparable?: boolean;
}

export interface Chart {
	step: '5 minutes' | 'hour' | 'day' | 'week' | 'month';
	bars: Bar[];
	undecided?: boolean;
	coarse?: boolean;
	left_out?: Bar[];
}

export interface List {
	title: string;
	field: string;
	by_blocked: boolean;
	rows: Row[];
	all: number;
}

export interface Change {
	kind: 'new' | 'gone' | 'more' | 'fewer';
	field: string;
	key: string;
	requests: number;
	before: number;
	share: number;
	share_before: number;
	condition?: string;
	link?: string;
}

export interface Record {
	time: string;
	local: string;
	ip: string;
	country: string;
	method: string;
	target: string;
	status: string;
	reason: string;
	cause?: string;
	request_id: string;
	link?: string;
}

export interface Failed {
	part: string;
	reason: string;
}

export interface Scheduled {
	id: string;
	config: string;
	report: string;
}

export interface Sentence {
	rule?: string;
	text: string;
	link?: string;
}

export interface Bar {
	from: string;
	label: string;
	requests: number;
	blocked: number;
	requests_before: number | null;
	blocked_before: number | null;
}

export interface Row {
	key: string;
	requests: number;
	blocked: number;
	challenged: number;
	passed: number | null;
	blocked_before: number | null;
	new?: boolean;
	condition?: string;
	link?: string;
}
