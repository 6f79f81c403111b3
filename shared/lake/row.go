// Package lake defines the physical table: its row type, its columns, its hourly partitions and the names of its
// objects. Parquet schema, SQL, DDL and documentation are derived from this one definition.
package lake

// Row is one stored request. A nil pointer or nil slice is an absent value. Optional scalars must be pointers, because
// parquet-go v0.32.0 corrupts optional columns of Go value types in batched writes.
//
// Names are the names of the request record, except where the stored form differs: times are epoch milliseconds (ts_ms)
// and nanoseconds within the millisecond (ts_nanos), durations are whole microseconds (*_us). Integers have no
// dictionary, which would cost bytes, unless they have few values (status). Integers without an encoding are delta
// encoded, see package parquet. "zstd" is a higher level of compression, for columns where that is worth its time.
type Row struct {
	// The record's place. The order is (ts_ms, ts_nanos, source, line), all descending in answers.
	TsMs     int64  `parquet:"ts_ms,delta"`
	TsNanos  int64  `parquet:"ts_nanos,delta"`  // nanoseconds within the millisecond, 0…999,999
	TsDigits int64  `parquet:"ts_digits,delta"` // digits of the fraction as ingested, 0…9
	Source   string `parquet:"source,dict"`     // ledger id of the source the record came from
	Line     int64  `parquet:"line,delta"`      // line in that source, from 1

	TimePeriod   int64   `parquet:"time_period,delta"`
	RequestID    *string `parquet:"request_id,optional,plain,zstd"`
	IP           *string `parquet:"ip,optional,dict"`
	Host         *string `parquet:"host,optional,dict"`
	Hostname     *string `parquet:"hostname,optional,dict"`
	Authority    *string `parquet:"authority,optional,dict"`
	Method       *string `parquet:"method,optional,dict"`
	Path         *string `parquet:"path,optional,dict"`
	Query        *string `parquet:"query,optional,dict"`
	URL          *string `parquet:"url,optional,dict,zstd"`
	Protocol     *string `parquet:"protocol,optional,dict"`
	Port         *string `parquet:"port,optional,dict"`
	Version      *string `parquet:"version,optional,dict"`
	Branch       *string `parquet:"branch,optional,dict"`
	Country      *string `parquet:"country,optional,dict"`
	GeoRegion    *string `parquet:"geo_region,optional,dict"`
	ASN          *string `parquet:"asn,optional,dict"`
	Organization *string `parquet:"organization,optional,dict"`
	UserAgent    *string `parquet:"user_agent,optional,dict"`
	Referer      *string `parquet:"referer,optional,dict"`
	Session      *string `parquet:"session,optional,dict,zstd"`
	SvcID        *string `parquet:"svcid,optional,dict,zstd"`   // promoted: first cookie svcid
	SvcSessionID *string `parquet:"svcsessionid,optional,dict"` // promoted: first cookie svcsessionid
	// Further cookies of these names, in order. They are nil unless a client repeats a cookie.
	SvcIDMore        []string `parquet:"svcid_more,optional,list" parquet-element:",dict"`
	SvcSessionIDMore []string `parquet:"svcsessionid_more,optional,list" parquet-element:",dict"`
	Result           *string  `parquet:"result,optional,dict"`
	Reason           *string  `parquet:"reason,optional,dict"`
	ChallengeType    *string  `parquet:"challenge_type,optional,dict"`
	// ProcessingStage has no documented type. It holds the text of the value; for a number, the JSON literal.
	ProcessingStage *string `parquet:"processing_stage,optional,dict"`

	Status        *int64 `parquet:"status,optional,dict,zstd"`
	BytesSent     *int64 `parquet:"bytes_sent,optional,plain"`
	RequestLength *int64 `parquet:"request_length,optional"`
	TotalUs       *int64 `parquet:"total_us,optional"`  // request_time
	SvcUs         *int64 `parquet:"svc_us,optional"`    // svc_latency, microseconds as ingested
	OriginUs      *int64 `parquet:"origin_us,optional"` // upstream_response_time
	// OriginNull is true if upstream_response_time was null, which the specification allows, and not absent.
	OriginNull bool `parquet:"origin_null"`

	Blocked    *bool `parquet:"blocked,optional"`
	Bot        *bool `parquet:"bot,optional"`
	Human      *bool `parquet:"human,optional"`
	Challenge  *bool `parquet:"challenge,optional"`
	IChallenge *bool `parquet:"ichallenge,optional"`
	Monitor    *bool `parquet:"monitor,optional"`

	Tags           []string   `parquet:"tags,optional,list" parquet-element:",dict"`
	MonitorReasons []string   `parquet:"monitor_reasons,optional,list" parquet-element:",dict"`
	UpstreamAddr   []string   `parquet:"upstream_addr,optional,list" parquet-element:",dict"`
	UpstreamStatus []int64    `parquet:"upstream_status,optional,list" parquet-element:",dict,zstd"`
	UpstreamData   []Upstream `parquet:"upstream_data,optional,list"`

	TriggerCounters *TriggerCounters `parquet:"trigger_counters,optional"`
	SecurityConfig  *SecurityConfig  `parquet:"security_config,optional"`

	// Name/value fields: HTTP repeats names, so these are lists, in the order received.
	Headers    []Pair `parquet:"headers,optional,list"`
	Cookies    []Pair `parquet:"cookies,optional,list"`
	Arguments  []Pair `parquet:"arguments,optional,list"`
	PathParts  []Pair `parquet:"path_parts,optional,list"`
	SessionIDs []Pair `parquet:"session_ids,optional,list"`
	Proxy      []Pair `parquet:"proxy,optional,list"`
	Profiling  []Pair `parquet:"profiling,optional,list"`

	// Open fields: every member of every entry as name and text, for filters. Their exact JSON is in Details.
	ACLTriggers        []Pair `parquet:"acl_triggers,optional,list"`
	CFTriggers         []Pair `parquet:"cf_triggers,optional,list"`
	CFRestrictTriggers []Pair `parquet:"cf_restrict_triggers,optional,list"`
	DRTriggers         []Pair `parquet:"dr_triggers,optional,list"`
	GFTriggers         []Pair `parquet:"gf_triggers,optional,list"`
	RLTriggers         []Pair `parquet:"rl_triggers,optional,list"`
	Biometric          []Pair `parquet:"biometric,optional,list"`
	Logs               []Pair `parquet:"logs,optional,list"`

	// Details is a JSON object with the open fields exactly as ingested. It is nil if the record has none.
	Details *string `parquet:"details,optional,dict"`
	// Extra is a JSON object with every member that the columns cannot reproduce (unknown fields, null instead of
	// absent, "status":"200", huge integers). It overrides the columns. It is nil for ordinary records.
	Extra *string `parquet:"extra,optional,dict"`
	// RawLine is the original line if the record does not hold all of it, because the line is not valid UTF-8 or
	// repeats a member. It is base64, because engines refuse text that is not valid UTF-8. Otherwise it is nil.
	RawLine *string `parquet:"raw_line,optional,plain"`
	// LogRest holds the values that filters find in no other column: the members in Extra that no column has, by name,
	// and the rest of a line of text, without a name. It is nil if there is none, and in rows of objects of version 1.
	LogRest []Pair `parquet:"log_rest,optional,list"`
}

// Pair is one name and value of a multi-valued field.
type Pair struct {
	Name  string `parquet:"name,dict"`
	Value string `parquet:"value,dict"`
}

// Upstream is one attempt at an origin.
type Upstream struct {
	Addr       *string `parquet:"addr,optional,dict"`
	ResponseUs *int64  `parquet:"response_us,optional"` // response_time in microseconds
	Status     *int64  `parquet:"status,optional,dict,zstd"`
}

// TriggerCounters counts the actions each stage triggered.
type TriggerCounters struct {
	ACL        *int64 `parquet:"acl,optional,dict"`
	CF         *int64 `parquet:"cf,optional,dict"`
	CFRestrict *int64 `parquet:"cf_restrict,optional,dict"`
	DR         *int64 `parquet:"dr,optional,dict"`
	GF         *int64 `parquet:"gf,optional,dict"`
	RL         *int64 `parquet:"rl,optional,dict"`
}

// SecurityConfig is the configuration that processed the request.
type SecurityConfig struct {
	ACLActive     *bool   `parquet:"acl_active,optional"`
	CFActive      *bool   `parquet:"cf_active,optional"`
	CFRules       *int64  `parquet:"cf_rules,optional,dict"`
	GFRules       *int64  `parquet:"gf_rules,optional,dict"`
	Revision      *string `parquet:"revision,optional,dict"`
	RLRules       *int64  `parquet:"rl_rules,optional,dict"`
	SecPolEntryID *string `parquet:"secpolentryid,optional,dict"`
	SecPolID      *string `parquet:"secpolid,optional,dict"`
}
