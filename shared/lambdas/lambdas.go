// Package lambdas is the table of what runs on AWS Lambda: each function, the routes it answers and the variables of
// the environment it needs. Functions are wired by it, and whatever deploys, starts or tests them goes by it.
package lambdas

import "slices"

// Function is one function. Its folder under functions/ and its zip have its name.
type Function struct {
	Name      string
	Doc       string
	Serves    []string   // operation ids of the routes it answers; nil of one that other events start
	Variables []Variable // of its environment
}

// Variable is a variable of the environment.
type Variable struct {
	Name    string
	Doc     string // completes "it is …"
	Default string // "" for one that must be set
	Example string
}

// The variables.
var (
	Table          = Variable{Name: "ORRERY_TABLE", Doc: "the name of the DynamoDB table", Example: "orrery"}
	LakeBucket     = Variable{Name: "ORRERY_LAKE_BUCKET", Doc: "the bucket that holds the Parquet objects", Example: "orrery-lake-123456789012"}
	RawBucket      = Variable{Name: "ORRERY_RAW_BUCKET", Doc: "the bucket that raw logs are put into", Example: "orrery-raw-123456789012"}
	Results        = Variable{Name: "ORRERY_RESULTS", Doc: "where Athena puts its answers", Example: "s3://orrery-results-123456789012/results/"}
	Database       = Variable{Name: "ORRERY_DATABASE", Doc: "the Glue database of the tables", Example: "orrery"}
	Workgroup      = Variable{Name: "ORRERY_WORKGROUP", Doc: "the Athena workgroup that queries run in", Example: "orrery-interactive"}
	ProjectionFrom = Variable{Name: "ORRERY_PROJECTION_FROM", Doc: "the first year of which records are kept", Default: "2000", Example: "2000"}
	QueryTimeout   = Variable{Name: "ORRERY_QUERY_TIMEOUT", Doc: "how long a request waits for its query", Default: "27s", Example: "27s"}
	Version        = Variable{Name: "ORRERY_VERSION", Doc: "the version of the program", Default: "dev", Example: "1.0.0"}
)

var (
	querying = []Variable{Table, LakeBucket, Results, Database, Workgroup, ProjectionFrom, QueryTimeout, Version}
	settings = []Variable{Table, Version}
	keeping  = []Variable{Table, LakeBucket, RawBucket, ProjectionFrom, Version}
)

// All is every function.
var All = []Function{
	{"topx", "Top values per category.", []string{"topx", "topx-post"}, querying},
	{"stats", "Traffic per time segment.", []string{"stats", "stats-post"}, querying},
	{"timeline", "Security per time segment.", []string{"timeline", "timeline-post"}, querying},
	{"logs", "Request records.", []string{"logs", "logs-post"}, querying},
	{"query-status", "Answers of queries that take longer than a request.", []string{"query-status", "query-cancel"}, querying},
	{"parse", "Converts filters.", []string{"parse"}, settings},
	{"fields", "Lists the fields of filters.", []string{"fields"}, settings},
	{"planet-get", "Reads planet settings.", []string{"planet-get"}, settings},
	{"planet-put", "Writes planet settings.", []string{"planet-put", "planet-restore"}, settings},
	{"planet-versions", "Reads the history of planet settings.", []string{"planet-versions", "planet-version"}, settings},
	{"not-found", "Answers every other path, and tells about the service.", []string{"health", "openapi", "page", "page-file"}, []Variable{Version}},
	{"ingest", "Turns raw logs into Parquet.", nil, keeping},
	{"compact", "Merges the Parquet objects of an hour.", nil, keeping},
}

// Named is the function of that name.
func Named(name string) (Function, bool) {
	i := slices.IndexFunc(All, func(f Function) bool { return f.Name == name })
	if i < 0 {
		return Function{}, false
	}
	return All[i], true
}
