package catalog

import "strings"

// Fields is the catalogue in alphabetical order. A new field needs one row here and one column in lake.Row.
var Fields = []Field{
	open("acl_triggers",
		"Access-control profile that acted: acl_action, action, extra, tags, trigger_id, trigger_name.",
		`acl_triggers["action"]="custom"`,
		"acl_action", "action", "extra", "tags", "trigger_id", "trigger_name"),
	{
		Name: "arguments", Type: Any, Keys: OpenKeys, Sources: pairs("arguments"),
		Doc:     "Arguments of the request; the key is an argument's name.",
		Example: `arguments["foo"]="1"`,
	},
	text("asn", "Autonomous system of the client.", `asn="AS3320"`),
	text("authority", "Authority the client asked for (Host or :authority).", `authority="shop.example"`),
	open("biometric", "Biometric signals of the client.", `biometric["score"]>0.5`),
	flag("blocked", "The request was blocked.", `blocked is true`),
	flag("bot", "The client is a bot.", `bot is true`),
	text("branch", "Configuration branch that processed the request.", `branch="prod"`),
	number("bytes_sent", "bytes_sent", "Bytes sent to the client.", `bytes_sent>1000000`),
	open("cf_restrict_triggers",
		"Content-filter restrictions that acted.",
		`cf_restrict_triggers["trigger_name"]~"length"`),
	open("cf_triggers",
		"Content-filter rules that acted: action, extra, name, risk_level, ruleid, section, trigger_id, "+
			"trigger_name, value.",
		`cf_triggers["risk_level"]>=4`,
		"action", "extra", "name", "risk_level", "ruleid", "section", "trigger_id", "trigger_name", "value"),
	flag("challenge", "A bot challenge was issued.", `challenge is true`),
	text("challenge_type", "Kind of challenge issued.", `challenge_type="js"`),
	{
		Name: "cookies", Type: Any, Keys: OpenKeys, Sources: pairs("cookies"),
		Doc:     "Cookies of the request; the key is a cookie's name.",
		Example: `cookies["lang"]="en"`,
	},
	text("country", "Country of the client's address.", `country in ("Germany", "France")`),
	open("dr_triggers", "Dynamic rules that acted.", `dr_triggers["trigger_name"]~"scan"`),
	text("geo_region", "Region of the client's address.", `geo_region="Bavaria"`),
	open("gf_triggers",
		"Global filters that matched: action, extra, name, section, trigger_id, trigger_name, value.",
		`gf_triggers["section"]="headers"`,
		"action", "extra", "name", "section", "trigger_id", "trigger_name", "value"),
	{
		Name: "headers", Type: Any, Keys: FoldedKeys, Sources: pairs("headers"),
		Doc:     "Headers of the request; the key is a header's name in any case.",
		Example: `headers["content-type"]~"json"`,
	},
	text("host", "Host of the request.", `host="shop.example"`),
	text("hostname", "Name of the host as configured.", `hostname="shop.example"`),
	flag("human", "The client is human.", `human is true`),
	flag("ichallenge", "An interactive challenge was issued.", `ichallenge is true`),
	text("ip", "Address of the client; filters also take networks, such as 203.0.113.0/24.", `ip="203.0.113.7"`),
	{
		Name: LogRest, Type: Any, Keys: OpenKeys, Sources: pairs("log_rest"),
		Doc: "Parts of a log line that no other field holds: further members of a line in JSON, or the rest of a " +
			"line of text. The key is a member's name; names of nested members are joined by dots. Only answers to " +
			"fields=log_rest have the field.",
		Example: `log_rest["level"]="error"`,
	},
	open("logs", "Notes of the processing stages.", `logs~"timeout"`),
	text("method", "Method of the request.", `method in (POST, PUT)`),
	flag("monitor", "The request triggered a monitor action.", `monitor is true`),
	list("monitor_reasons", String,
		"Reasons the request triggered monitor actions.",
		`monitor_reasons~"global filter"`),
	text("organization", "Organization that the client's address belongs to.", `organization~"(?i)hosting"`),
	text("path", "Path without host and arguments, percent-encoded as received.", `path="/login"`),
	{
		Name: "path_parts", Type: Any, Keys: OpenKeys, Sources: pairs("path_parts"),
		Names:   names("part1 part2 part3 path"),
		Doc:     "Segments of the path: part1, part2, … and path.",
		Example: `path_parts["part2"]="cart"`,
	},
	text("port", "Port of the request.", `port="443"`),
	{
		Name: "processing_stage", Type: Any, Sources: scalar("processing_stage", Any),
		Doc:     "Stage at which processing ended.",
		Example: `processing_stage<4`,
	},
	{
		Name: "profiling", Type: Any, Keys: OpenKeys, Sources: pairs("profiling"),
		Names:   names("secpol mapping flow limit acl content_filter"),
		Doc:     "Internal ids of the settings applied: secpol, mapping, flow, limit, acl, content_filter.",
		Example: `profiling["acl"]="acl1"`,
	},
	text("protocol", "Protocol of the request.", `protocol="HTTP/2.0"`),
	{
		Name: "proxy", Type: Any, Keys: OpenKeys, Sources: pairs("proxy"),
		Names: names("additional_tags bytes_sent container geo_as_domain geo_as_name geo_as_type " +
			"geo_company_country geo_company_domain geo_company_type geo_lat geo_long " +
			"geo_mobile_carrier geo_mobile_country geo_mobile_mcc geo_mobile_mnc realip " +
			"request_id request_length request_time ssl_cipher ssl_protocol status"),
		Doc:     "Figures of the proxy: realip, ssl_protocol, geo_lat, status, ….",
		Example: `proxy["ssl_protocol"]="TLSv1.2"`,
	},
	text("query", "Query part with its leading question mark.", `query~"(?i)union.+select"`),
	text("reason", "Reason the request was blocked.", `reason~"acl1"`),
	{
		Name: RecordRef, Type: Reference, Sources: []Source{{Column: "ts_ms", Layout: Place, Type: Reference}},
		Doc:     "Reference to the record, for links; only answers to fields=record_ref have it.",
		Example: `record_ref="AYCg1e3uZkkKks0Jp4_QIMFr-ioIN9aV4uou"`,
	},
	text("referer", "Referer header.", `referer="https://www.google.com/"`),
	text("request_id", "Id of the request.", `request_id="9f2c1d7e"`),
	number("request_length", "request_length", "Bytes received from the client.", `request_length>8000`),
	{
		Name: "request_time", Type: Float, Sources: scalar("total_us", Float),
		Doc:     "Total processing time in seconds.",
		Example: `request_time>2.5`,
	},
	text("result", "Disposition of the request; Passed denotes a passed request.", `result!="Passed"`),
	open("rl_triggers", "Rate limits that acted.", `rl_triggers["trigger_name"]~"login"`),
	{
		Name: "security_config", Type: Any, Keys: ClosedKeys, Sources: securityConfig,
		Doc:     "Configuration at processing time.",
		Example: `security_config["acl_active"] is true`,
	},
	text("session", "Session of the client.", `session="0fe1"`),
	{
		Name: "session_ids", Type: Any, Keys: OpenKeys, Sources: pairs("session_ids"),
		Doc:     "Session ids by name.",
		Example: `session_ids["asn"]="AS3320"`,
	},
	number("status", "status", "Status sent to the client.", `status>=500`),
	number("svc_latency", "svc_us", "Processing time of the service in microseconds.", `svc_latency>1000`),
	cookie("svcid", "Cookie svcid set by the service; if there are several, any.", `svcid="5b1c"`),
	cookie("svcsessionid", "Cookie svcsessionid set by the service; if there are several, any.", `svcsessionid="77aa"`),
	list("tags", String, "All tags attached to the request.", `tags="bot"`),
	number("time_period", "time_period", "Time of the request in Unix seconds.", `time_period>=1767225600`),
	{
		Name: "timestamp", Type: Time, Sources: scalar("ts_ms", Time),
		Doc:     "Time of the request, UTC.",
		Example: `timestamp between 2026-01-01 and 2026-01-02`,
	},
	{
		Name: "trigger_counters", Type: Int, Keys: ClosedKeys, Sources: triggerCounters,
		Doc:     "How often each stage triggered an action.",
		Example: `trigger_counters["acl"]>0`,
	},
	list("upstream_addr", String, "Addresses of the origins tried.", `upstream_addr~"^10\.0\."`),
	{
		Name: "upstream_data", Type: Any, Keys: ClosedKeys, Sources: upstreamData,
		Doc:     "Attempts at the origin: addr, response_time, status.",
		Example: `upstream_data["status"]>=500`,
	},
	{
		Name: "upstream_response_time", Type: Float, Sources: scalar("origin_us", Float),
		Doc:     "Processing time of the origin in seconds.",
		Example: `upstream_response_time>1`,
	},
	list("upstream_status", Int, "Status codes of the origins tried.", `upstream_status=502`),
	text("url", "Target of the request: host and path.", `url="shop.example/login"`),
	text("user_agent", "User-Agent header.", `user_agent~"(?i)curl"`),
	text("version", "Version of the service.", `version="5.3.1"`),
}

// RecordRef is the name of the field with the reference to the record. Every record has one, although ingested records
// do not contain it.
const RecordRef = "record_ref"

// LogRest is the name of the field with the values that no other field has. Whole records omit it, because these values
// are among their members under their own names, or in proxy.
const LogRest = "log_rest"

var securityConfig = []Source{
	member("security_config", "acl_active", Bool), member("security_config", "cf_active", Bool),
	member("security_config", "cf_rules", Int), member("security_config", "gf_rules", Int),
	member("security_config", "revision", String), member("security_config", "rl_rules", Int),
	member("security_config", "secpolentryid", String), member("security_config", "secpolid", String),
}

var triggerCounters = []Source{
	member("trigger_counters", "acl", Int), member("trigger_counters", "cf", Int),
	member("trigger_counters", "cf_restrict", Int), member("trigger_counters", "dr", Int),
	member("trigger_counters", "gf", Int), member("trigger_counters", "rl", Int),
}

var upstreamData = []Source{
	{Name: "addr", Column: "upstream_data", Member: "addr", Layout: Structs, Type: String},
	{Name: "response_time", Column: "upstream_data", Member: "response_us", Layout: Structs, Type: Float},
	{Name: "status", Column: "upstream_data", Member: "status", Layout: Structs, Type: Int},
}

func names(list string) []string { return strings.Fields(list) }

func scalar(column string, t Type) []Source {
	return []Source{{Column: column, Layout: Scalar, Type: t}}
}

func pairs(column string) []Source {
	return []Source{{Column: column, Layout: Pairs, Type: Any}}
}

func member(column, name string, t Type) Source {
	return Source{Name: name, Column: column, Member: name, Layout: Scalar, Type: t}
}

func text(name, doc, example string) Field {
	return Field{Name: name, Type: String, Sources: scalar(name, String), Doc: doc, Example: example}
}

// cookie returns a field for a cookie with two columns: one for the first cookie of that name, one for the others.
func cookie(name, doc, example string) Field {
	first := Source{Column: name, Layout: Scalar, Type: String}
	more := Source{Column: name + "_more", Layout: List, Type: String}
	return Field{Name: name, Type: String, Sources: []Source{first, more}, Doc: doc, Example: example}
}

func flag(name, doc, example string) Field {
	return Field{Name: name, Type: Bool, Sources: scalar(name, Bool), Doc: doc, Example: example}
}

func number(name, column, doc, example string) Field {
	return Field{Name: name, Type: Int, Sources: scalar(column, Int), Doc: doc, Example: example}
}

func list(name string, t Type, doc, example string) Field {
	sources := []Source{{Column: name, Layout: List, Type: t}}
	return Field{Name: name, Type: t, Sources: sources, Doc: doc, Example: example}
}

// open returns a field with entries of unknown members. Filters see every member of every entry; known lists the
// documented ones.
func open(name, doc, example string, known ...string) Field {
	return Field{
		Name:      name,
		Type:      Any,
		Keys:      OpenKeys,
		Sources:   pairs(name),
		Names:     known,
		Doc:       doc,
		Example:   example,
		inDetails: true,
	}
}
