// The types of what data routes answer. Written by go run ./scripts/console from packages answer and why; do not edit.
import type { Value } from './filter';

export interface Meta {
	filter: string;
	fingerprint: string;
	period: MetaPeriod;
	segment_seconds?: number;
	tz?: string;
	num_of_requests?: number;
	engine: 'scan' | 'duckdb' | 'rows' | 'athena' | 'trino' | 'lists';
	elapsed_ms: number;
	engine_ms: number;
	objects?: number;
	objects_reused?: number;
	bytes_scanned: number;
	rows_considered?: number;
	skipped?: string[];
	truncated?: Truncated;
	newest: string | null;
	oldest: string | null;
	complete_through: string | null;
	lists?: ListMeta[];
	demo?: boolean;
	diff?: DiffMeta;
	effect?: EffectMeta;
	next?: string | null;
	head?: string;
	late?: number | null;
	percentiles?: PercentilesMeta;
	dry_run?: boolean;
	estimate?: Estimate;
	marks?: Mark[];
	series?: SeriesMeta[];
	exact?: boolean;
	saturated?: string[];
	scope?: LookedAt;
	unavailable?: string;
	queue_ms?: number;
	cost_usd?: number;
	cached?: Cached;
	split?: boolean;
}

export interface TimelineResult {
	array_origin_status_codes: StatusResult[];
	array_status_codes: StatusResult[];
	num_of_blocked_requests: number;
	num_of_challenges: number;
	num_of_human_requests: number;
	num_of_ip: number;
	num_of_origin_blocked_requests: number;
	num_of_requests: number;
	num_of_sessions: number;
	sum_of_sent_bytes: number;
	time_period: number;
	timeperiod_string: string;
	timeperiod_local?: string;
}

export interface StatsResult extends Percentiles {
	avg_latency: number | null;
	hostname?: string;
	num_of_requests: number;
	sum_of_bandwidth: number;
	time_period: number;
	timeperiod_string: string;
	timeperiod_local?: string;
	value?: Value;
	value_truncated?: boolean;
}

export interface TopXResult extends Percentiles {
	label: 'country'
		| 'host'
		| 'ip'
		| 'organization'
		| 'origin_time'
		| 'reason'
		| 'referer'
		| 'svc_time'
		| 'svcid'
		| 'total_time'
		| 'url'
		| 'user_agent';
	key: string;
	avg_origin_time: number | null;
	max_origin_time: number | null;
	min_origin_time: number | null;
	avg_svc_time: number | null;
	max_svc_time: number | null;
	min_svc_time: number | null;
	avg_total_time: number | null;
	max_total_time: number | null;
	min_total_time: number | null;
	first_asn: string;
	first_geo_country: string;
	first_organization: string;
	num_of_blocked_requests: number;
	num_of_bot_requests: number;
	num_of_challenges: number;
	num_of_human_requests: number;
	num_of_monitored_requests: number;
	num_of_requests: number;
	sum_of_bytes_sent: number;
	sum_of_request_length: number;
	key_truncated?: boolean;
}

export interface FacetResult {
	by: string;
	type: 'string' | 'integer' | 'boolean';
	num_of_requests: number;
	num_of_absent: number;
	distinct: number;
	values: FacetValueResult[];
	rest: FacetRest | null;
}

export interface HistogramResult {
	time_period: number;
	timeperiod_string: string;
	timeperiod_local?: string;
	series: string | null;
	kind: 'value' | 'other' | 'absent' | 'all';
	value: number;
	series_truncated?: boolean;
}

export interface DiffResult {
	by: string;
	value: Value;
	selected: DiffSide;
	baseline: DiffSide;
	lift: number | null;
	score: number;
	condition?: string;
	excluded?: string;
	value_truncated?: boolean;
}

export interface ValueResult {
	value: Value;
	num_of_requests?: number;
	num_of_blocked_requests?: number;
	num_of_challenges?: number;
	num_of_monitored_requests?: number;
	num_of_human_requests?: number;
	condition?: string;
	value_truncated?: boolean;
}

export interface IncidentResult {
	id: string;
	kind: 'password guessing' | 'injection' | 'scan' | 'flood' | 'scraping' | 'unusual';
	target: string;
	host: string | null;
	path?: string;
	begin: string;
	end: string | null;
	sentence: string;
	details: string;
	begins_earlier: boolean;
	ends_later: boolean;
	certain: boolean;
	why: string;
	num_of_requests: number;
	num_of_blocked_requests: number;
	num_of_challenges: number;
	num_of_monitored_requests: number;
	num_of_passed_requests: number;
	num_of_blocked_human_requests: number | null;
	num_of_ip: number;
	num_of_networks: number | null;
	addresses: IncidentValue[];
	networks: IncidentValue[];
	reasons: IncidentValue[];
	held: IncidentHeld;
	filter: string;
}

export interface EffectResult {
	by: 'all' | 'rule' | 'reason';
	value: string | null;
	sentence: string;
	difference: number;
	from_requests: number;
	from_rules: number;
	rest: number;
	before: EffectSide;
	after: EffectSide;
}

export interface WhatIfResult {
	rule: string;
	place: number | null;
	name: string | null;
	action: 'block' | 'challenge' | 'monitor';
	sentence: string;
	num_of_requests: number;
	num_of_blocked_requests: number;
	num_of_earlier_requests: number;
	num_of_new_requests: number;
	num_of_ip: number;
	num_of_sessions: number;
	num_of_human_requests: number | null;
	num_of_human_ip: number | null;
	first: string | null;
	last: string | null;
	threshold: number | null;
	num_of_keys: number | null;
	num_of_phase_unknown: number | null;
	segment_seconds: number;
	segments: WhatIfSegment[];
	facets: WhatIfFacet[];
	affected: WhatIfClient[];
	curve: WhatIfPoint[];
	attack: WhatIfAttack | null;
	unknown: string[];
	json: string | null;
	forms: WhatIfForm[];
}

export interface Explanation {
	record_ref: string;
	timestamp: string;
	request: string;
	result: 'passed' | 'blocked' | 'challenged' | 'monitored' | 'refused';
	sentence: string;
	cause?: string;
	verdict?: Assessment;
	stages: Stage[];
	matches: Match[];
	steps: Step[];
	exemption?: Exemption;
	ticket: string;
	customer?: string;
}

export interface MetaPeriod {
	from: string;
	to: string;
}

export interface Truncated {
	reason: 'limit' | 'bytes';
}

export interface ListMeta {
	list: string;
	version: number;
	num_of_values: number;
}

export interface DiffMeta {
	selected: DiffSideMeta;
	baseline: DiffSideMeta;
	small?: boolean;
	fields: DiffTermMeta[];
}

export interface EffectMeta {
	at: string;
	length_seconds: number;
	shortened?: boolean;
	before: EffectSideMeta;
	after: EffectSideMeta;
}

export interface PercentilesMeta {
	method: string;
	digits: number;
	error: number;
}

export interface Estimate {
	partitions?: number;
	objects?: number;
	objects_reused?: number;
	rows?: number;
	bytes: BytesEstimate | null;
	columns: ColumnSize[];
	cost_usd?: PriceEstimate;
	wait_ms: MillisEstimate | null;
	warnings: string[];
	lacking?: LackingColumn[];
}

export interface Mark {
	at: string;
	kind: 'revision' | 'planet';
	before?: string;
	after?: string;
	config?: string;
	version?: number;
	by?: string;
}

export interface SeriesMeta {
	series: string | null;
	kind: 'value' | 'other' | 'absent' | 'all';
	total: number;
	series_truncated?: boolean;
}

export interface LookedAt {
	objects: number;
	of: number;
}

export interface Cached {
	age_seconds: number;
}

export interface StatusResult {
	key: string;
	value: number;
}

export interface Percentiles {
	p50_total_time?: number | null;
	p90_total_time?: number | null;
	p99_total_time?: number | null;
	p50_origin_time?: number | null;
	p90_origin_time?: number | null;
	p99_origin_time?: number | null;
	p50_svc_time?: number | null;
	p90_svc_time?: number | null;
	p99_svc_time?: number | null;
}

export interface FacetValueResult {
	value: Value;
	num_of_requests: number;
	num_of_blocked_requests: number;
	num_of_challenges: number;
	num_of_monitored_requests: number;
	num_of_human_requests: number;
	condition?: string;
	value_truncated?: boolean;
}

export interface FacetRest {
	distinct: number;
	num_of_requests: number;
	num_of_blocked_requests: number;
}

export interface DiffSide {
	num_of_requests: number;
	share: number;
}

export interface IncidentValue {
	value: string;
	num_of_requests: number;
}

export interface IncidentHeld {
	state: 'held' | 'look' | 'not held' | 'unknown';
	sentence: string;
	before: IncidentOthers;
	during: IncidentOthers;
	after: IncidentOthers;
}

export interface EffectSide {
	num_of_blocked_requests: number;
	num_of_blocked_human_requests: number | null;
	filter: string;
}

export interface WhatIfSegment {
	time_period: number;
	num_of_requests: number;
	num_of_new_requests: number;
}

export interface WhatIfFacet {
	field: string;
	values: WhatIfValue[];
}

export interface WhatIfClient {
	key: WhatIfPart[];
	num_of_new_requests: number;
	num_of_human_requests: number | null;
	first: string;
	last: string;
	filter: string;
	record_ref: string | null;
}

export interface WhatIfPoint {
	threshold: number;
	num_of_requests: number;
	num_of_new_requests: number;
	num_of_ip: number;
	num_of_human_requests: number | null;
	num_of_human_ip: number | null;
	num_of_attack_requests: number | null;
	num_of_stopped_other_ip: number | null;
}

export interface WhatIfAttack {
	filter: string;
	sentence: string;
	num_of_requests: number;
	num_of_acted_requests: number;
	others: 'people' | 'addresses';
	num_of_other_ip: number;
	num_of_stopped_other_ip: number;
	knee: WhatIfKnee | null;
}

export interface WhatIfForm {
	to: string;
	json: string;
	terraform: string;
	curl: string;
}

export interface Assessment {
	verdict: 'mistake' | 'right' | 'unknown';
	text: 'Probably a mistake' | 'Probably right' | 'Cannot be told';
	points: number;
	reasons: Reason[];
}

export interface Stage {
	name: 'global filter' | 'rate limit' | 'acl' | 'content filter' | 'origin';
	state: 'passed' | 'stopped' | 'not reached';
}

export interface Match {
	field: string;
	part: string;
	text?: string;
}

export interface Step {
	text: string;
	filter?: string;
	planets?: boolean;
}

export interface Exemption {
	text: string;
	parts: ExemptionPart[];
}

export interface DiffSideMeta {
	num_of_requests: number;
	period: MetaPeriod;
	filter: string;
	except?: string;
}

export interface DiffTermMeta {
	by: string;
	distinct: number;
	num_of_absent_selected: number;
	num_of_absent_baseline: number;
}

export interface EffectSideMeta {
	period: MetaPeriod;
	num_of_requests: number;
	num_of_human_requests: number | null;
	filter: string;
}

export interface BytesEstimate {
	low: number;
	high: number;
}

export interface ColumnSize {
	name: string;
	bytes?: number;
}

export interface PriceEstimate {
	low: number;
	high: number;
}

export interface MillisEstimate {
	low: number;
	high: number;
}

export interface LackingColumn {
	name: string;
	objects: number;
}

export interface IncidentOthers {
	num_of_requests: number;
	num_of_errors: number;
	avg_time: number | null;
}

export interface WhatIfValue {
	value: string;
	num_of_new_requests: number;
}

export interface WhatIfPart {
	field: string;
	value: string;
}

export interface WhatIfKnee {
	threshold: number;
	sentence: string;
	num_of_attack_requests: number;
	num_of_stopped_other_ip: number;
	rule: string;
	forms: WhatIfForm[];
}

export interface Reason {
	reason: 'rule' | 'session' | 'path';
	text: string;
	points: number;
	counts: Count[];
}

export interface ExemptionPart {
	to: string;
	json: string;
	terraform: string;
}

export interface Count {
	name: 'requests' | 'people' | 'passed' | 'blocked';
	filter: string;
	num_of_requests: number;
}
