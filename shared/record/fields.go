package record

import "github.com/orrery/orrery/shared/lake"

// kind is the way in which the JSON of a field is converted to columns and back.
type kind uint8

const (
	text           kind = iota // a string
	whole                      // an integer
	seconds                    // a number of seconds, stored in microseconds
	originSeconds              // a number of seconds, or null: upstream_response_time
	flag                       // true or false
	textList                   // array of strings
	wholeList                  // array of integers: upstream_status
	pairsObject                // object name → value or values, or list of {name, value}; printed as an object
	pairsList                  // list of {name, value}
	open                       // any JSON: its text in Details, its members as pairs
	timestamp                  // timestamp
	timePeriod                 // time_period
	stage                      // string or number: processing_stage
	upstreams                  // array of attempts at the origin
	counters                   // trigger_counters
	config                     // security_config
	serviceCookie              // the cookies svcid and svcsessionid, which are not members of a record
	reference                  // record_ref, which is not a member of a record either
	remainingPairs             // log_rest: what no other column has, which is not a member of a record either
)

// field is a field of the record with its column. Only the accessor for the type of the column is set.
type field struct {
	name  string
	kind  kind
	text  func(*lake.Row) **string
	int   func(*lake.Row) **int64
	flag  func(*lake.Row) **bool
	texts func(*lake.Row) *[]string
	pairs func(*lake.Row) *[]lake.Pair
}

// fields lists every field of the catalogue in the order in which fields are printed. A test compares the two.
var fields = [...]field{
	pairsField("acl_triggers", open, func(r *lake.Row) *[]lake.Pair { return &r.ACLTriggers }),
	pairsField("arguments", pairsObject, func(r *lake.Row) *[]lake.Pair { return &r.Arguments }),
	textField("asn", func(r *lake.Row) **string { return &r.ASN }),
	textField("authority", func(r *lake.Row) **string { return &r.Authority }),
	pairsField("biometric", open, func(r *lake.Row) *[]lake.Pair { return &r.Biometric }),
	flagField("blocked", func(r *lake.Row) **bool { return &r.Blocked }),
	flagField("bot", func(r *lake.Row) **bool { return &r.Bot }),
	textField("branch", func(r *lake.Row) **string { return &r.Branch }),
	intField("bytes_sent", whole, func(r *lake.Row) **int64 { return &r.BytesSent }),
	pairsField("cf_restrict_triggers", open, func(r *lake.Row) *[]lake.Pair { return &r.CFRestrictTriggers }),
	pairsField("cf_triggers", open, func(r *lake.Row) *[]lake.Pair { return &r.CFTriggers }),
	flagField("challenge", func(r *lake.Row) **bool { return &r.Challenge }),
	textField("challenge_type", func(r *lake.Row) **string { return &r.ChallengeType }),
	pairsField("cookies", pairsObject, func(r *lake.Row) *[]lake.Pair { return &r.Cookies }),
	textField("country", func(r *lake.Row) **string { return &r.Country }),
	pairsField("dr_triggers", open, func(r *lake.Row) *[]lake.Pair { return &r.DRTriggers }),
	textField("geo_region", func(r *lake.Row) **string { return &r.GeoRegion }),
	pairsField("gf_triggers", open, func(r *lake.Row) *[]lake.Pair { return &r.GFTriggers }),
	pairsField("headers", pairsObject, func(r *lake.Row) *[]lake.Pair { return &r.Headers }),
	textField("host", func(r *lake.Row) **string { return &r.Host }),
	textField("hostname", func(r *lake.Row) **string { return &r.Hostname }),
	flagField("human", func(r *lake.Row) **bool { return &r.Human }),
	flagField("ichallenge", func(r *lake.Row) **bool { return &r.IChallenge }),
	textField("ip", func(r *lake.Row) **string { return &r.IP }),
	pairsField(restName, remainingPairs, func(r *lake.Row) *[]lake.Pair { return &r.LogRest }),
	pairsField("logs", open, func(r *lake.Row) *[]lake.Pair { return &r.Logs }),
	textField("method", func(r *lake.Row) **string { return &r.Method }),
	flagField("monitor", func(r *lake.Row) **bool { return &r.Monitor }),
	{name: "monitor_reasons", kind: textList, texts: func(r *lake.Row) *[]string { return &r.MonitorReasons }},
	textField("organization", func(r *lake.Row) **string { return &r.Organization }),
	textField("path", func(r *lake.Row) **string { return &r.Path }),
	pairsField("path_parts", pairsObject, func(r *lake.Row) *[]lake.Pair { return &r.PathParts }),
	textField("port", func(r *lake.Row) **string { return &r.Port }),
	{name: "processing_stage", kind: stage},
	pairsField("profiling", pairsList, func(r *lake.Row) *[]lake.Pair { return &r.Profiling }),
	textField("protocol", func(r *lake.Row) **string { return &r.Protocol }),
	pairsField("proxy", pairsList, func(r *lake.Row) *[]lake.Pair { return &r.Proxy }),
	textField("query", func(r *lake.Row) **string { return &r.Query }),
	textField("reason", func(r *lake.Row) **string { return &r.Reason }),
	{name: catalogRef, kind: reference},
	textField("referer", func(r *lake.Row) **string { return &r.Referer }),
	textField("request_id", func(r *lake.Row) **string { return &r.RequestID }),
	intField("request_length", whole, func(r *lake.Row) **int64 { return &r.RequestLength }),
	intField("request_time", seconds, func(r *lake.Row) **int64 { return &r.TotalUs }),
	textField("result", func(r *lake.Row) **string { return &r.Result }),
	pairsField("rl_triggers", open, func(r *lake.Row) *[]lake.Pair { return &r.RLTriggers }),
	{name: "security_config", kind: config},
	textField("session", func(r *lake.Row) **string { return &r.Session }),
	pairsField("session_ids", pairsObject, func(r *lake.Row) *[]lake.Pair { return &r.SessionIDs }),
	intField("status", whole, func(r *lake.Row) **int64 { return &r.Status }),
	intField("svc_latency", whole, func(r *lake.Row) **int64 { return &r.SvcUs }),
	cookieField("svcid", func(r *lake.Row) **string { return &r.SvcID }),
	cookieField("svcsessionid", func(r *lake.Row) **string { return &r.SvcSessionID }),
	{name: "tags", kind: textList, texts: func(r *lake.Row) *[]string { return &r.Tags }},
	{name: "time_period", kind: timePeriod},
	{name: "timestamp", kind: timestamp},
	{name: "trigger_counters", kind: counters},
	{name: "upstream_addr", kind: textList, texts: func(r *lake.Row) *[]string { return &r.UpstreamAddr }},
	{name: "upstream_data", kind: upstreams},
	intField("upstream_response_time", originSeconds, func(r *lake.Row) **int64 { return &r.OriginUs }),
	{name: "upstream_status", kind: wholeList},
	textField("url", func(r *lake.Row) **string { return &r.URL }),
	textField("user_agent", func(r *lake.Row) **string { return &r.UserAgent }),
	textField("version", func(r *lake.Row) **string { return &r.Version }),
}

// notOfLine reports whether the field is never a member of a line. A member of its name is an unknown one.
func (f *field) notOfLine() bool { return f.kind == reference || f.kind == remainingPairs }

// FieldNames returns the names of the fields of the catalogue in alphabetical order.
func FieldNames() []string {
	names := make([]string, len(fields))
	for i := range fields {
		names[i] = fields[i].name
	}
	return names
}

// IsFlag reports whether a name is that of a field that is true or false.
func IsFlag(name string) bool {
	i, known := fieldIndex[name]
	return known && fields[i].kind == flag
}

var fieldIndex = func() map[string]int {
	index := make(map[string]int, len(fields))
	for i := range fields {
		index[fields[i].name] = i
	}
	return index
}()

func textField(name string, column func(*lake.Row) **string) field {
	return field{name: name, kind: text, text: column}
}

func intField(name string, k kind, column func(*lake.Row) **int64) field {
	return field{name: name, kind: k, int: column}
}

func flagField(name string, column func(*lake.Row) **bool) field {
	return field{name: name, kind: flag, flag: column}
}

func pairsField(name string, k kind, column func(*lake.Row) *[]lake.Pair) field {
	return field{name: name, kind: k, pairs: column}
}

func cookieField(name string, column func(*lake.Row) **string) field {
	return field{name: name, kind: serviceCookie, text: column}
}
