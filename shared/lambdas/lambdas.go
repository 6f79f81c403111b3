// Package lambdas lists the functions that run on AWS Lambda, with the routes that each answers and the environment
// variables that it needs. The functions, their deployment and their tests are derived from this table.
package lambdas

import (
	"slices"
	"strconv"
)

// Function is one function. Its folder under functions/ and its zip file have its name.
type Function struct {
	Name      string
	Doc       string
	Serves    []string   // operation ids of the routes it answers; nil if other events start it
	Variables []Variable // its environment variables
}

// Variable is an environment variable.
type Variable struct {
	Name    string
	Doc     string // completes "it is …"
	Default string // "" if the variable must be set
	Example string
}

// The variables.
var (
	Table = Variable{
		Name:    "ORRERY_TABLE",
		Doc:     "the name of the DynamoDB table",
		Example: "orrery",
	}
	LakeBucket = Variable{
		Name:    "ORRERY_LAKE_BUCKET",
		Doc:     "the bucket that holds the Parquet objects",
		Example: "orrery-lake-123456789012",
	}
	RawBucket = Variable{
		Name:    "ORRERY_RAW_BUCKET",
		Doc:     "the bucket that raw logs are put into",
		Example: "orrery-raw-123456789012",
	}
	RawQueue = Variable{
		Name:    "ORRERY_RAW_QUEUE",
		Doc:     "the URL of the queue of messages about raw logs",
		Example: "https://sqs.eu-central-1.amazonaws.com/123456789012/orrery-raw",
	}
	RawDeadLetters = Variable{
		Name:    "ORRERY_RAW_DEAD_LETTERS",
		Doc:     "the URL of the queue of messages about raw logs that ingest gave up on",
		Example: "https://sqs.eu-central-1.amazonaws.com/123456789012/orrery-raw-dead-letters",
	}
	Results = Variable{
		Name:    "ORRERY_RESULTS",
		Doc:     "where Athena puts its answers",
		Example: "s3://orrery-results-123456789012/results/",
	}
	Database = Variable{
		Name:    "ORRERY_DATABASE",
		Doc:     "the Glue database of the tables",
		Example: "orrery",
	}
	Workgroup = Variable{
		Name:    "ORRERY_WORKGROUP",
		Doc:     "the Athena workgroup that queries run in",
		Example: "orrery-interactive",
	}
	ReportsWorkgroup = Variable{
		Name:    "ORRERY_WORKGROUP",
		Doc:     "the Athena workgroup that the queries of scheduled reports run in",
		Example: "orrery-reports",
	}
	Reports = Variable{
		Name:    "ORRERY_REPORTS",
		Doc:     "where scheduled reports may be sent, as JSON",
		Default: "{}",
		Example: `{"destination":{"archive":{"bucket":"orrery-archive","prefix":"reports/"}}}`,
	}
	ReportQueue = Variable{
		Name:    "ORRERY_REPORT_QUEUE",
		Doc:     "the URL of the queue of runs of scheduled reports",
		Example: "https://sqs.eu-central-1.amazonaws.com/123456789012/orrery-report",
	}
	ProjectionFrom = Variable{
		Name:    "ORRERY_PROJECTION_FROM",
		Doc:     "the first year of which records are kept",
		Default: "2000",
		Example: "2000",
	}
	HorizonDays = Variable{
		Name:    "ORRERY_HORIZON_DAYS",
		Doc:     "the age in days, when their log arrives, of the oldest records that are kept; 0 for any",
		Default: "35",
		Example: "35",
	}
	ScanMegabytes = Variable{
		Name:    "ORRERY_SCAN_MEGABYTES",
		Doc:     "how many megabytes of columns a function reads itself for one question; 0 for none",
		Default: strconv.Itoa(DefaultScan),
		Example: "200",
	}
	PartFunction = Variable{
		Name:    "ORRERY_PART_FUNCTION",
		Doc:     "the name of the function that counts parts of large questions",
		Default: "orrery-" + Part,
		Example: "orrery-" + Part,
	}
	PartsAtOnce = Variable{
		Name:    "ORRERY_PARTS_AT_ONCE",
		Doc:     "how many parts of a question are counted at once; 0 for none, so that Athena answers large questions",
		Default: "0",
		Example: strconv.Itoa(DefaultPartsAtOnce),
	}
	QueryTimeout = Variable{
		Name:    "ORRERY_QUERY_TIMEOUT",
		Doc:     "how long a request waits for its query",
		Default: "27s",
		Example: "27s",
	}
	ReportTimeout = Variable{
		Name:    "ORRERY_QUERY_TIMEOUT",
		Doc:     "how long a scheduled report waits for each of its queries",
		Default: "5m",
		Example: "5m",
	}
	Version = Variable{
		Name:    "ORRERY_VERSION",
		Doc:     "the version of the program",
		Default: "dev",
		Example: "1.0.0",
	}
)

var (
	querying = []Variable{
		Table, LakeBucket, Results, Database, Workgroup, ProjectionFrom, ScanMegabytes, PartFunction, PartsAtOnce,
		QueryTimeout, Version,
	}
	finding  = []Variable{Table, LakeBucket, QueryTimeout, Version}
	settings = []Variable{Table, Version}
	listing  = []Variable{Table, LakeBucket, Version}
	keeping  = []Variable{
		Table, LakeBucket, RawBucket, RawQueue, RawDeadLetters, ProjectionFrom, HorizonDays, Version,
	}
	feeding = []Variable{Table, LakeBucket, RawBucket, RawQueue, ProjectionFrom, HorizonDays, Version}
	sending = []Variable{Table, RawBucket, RawQueue, Version}
	making  = []Variable{
		Table, LakeBucket, Results, Database, ReportsWorkgroup, ProjectionFrom, ScanMegabytes, PartFunction,
		PartsAtOnce, Reports, ReportTimeout, Version,
	}
)

// All lists every function.
var All = append(slices.Clone(functions), older())

// Part is the function that counts parts of large questions for those that answer them.
const Part = "part"

// Older is the function that stands for others below the older base paths of the API, which are all but the first one.
// With a method for each route there, too, a stack would come near the number of resources that CloudFormation allows.
const Older = "older"

// functions lists every function but Older.
var functions = []Function{
	{
		Name:      "topx",
		Doc:       "Top values per category.",
		Serves:    []string{"topx", "topx-post"},
		Variables: querying,
	},
	{
		Name:      "stats",
		Doc:       "Traffic per time segment.",
		Serves:    []string{"stats", "stats-post"},
		Variables: querying,
	},
	{
		Name:      "timeline",
		Doc:       "Security per time segment.",
		Serves:    []string{"timeline", "timeline-post"},
		Variables: querying,
	},
	{
		Name:      "facets",
		Doc:       "Most frequent values of fields.",
		Serves:    []string{"facets", "facets-post"},
		Variables: querying,
	},
	{
		Name:      "histogram",
		Doc:       "A measure per time segment, split by a field.",
		Serves:    []string{"histogram", "histogram-post"},
		Variables: querying,
	},
	{
		Name:      "diff",
		Doc:       "Values that differ between two sides.",
		Serves:    []string{"diff", "diff-post"},
		Variables: querying,
	},
	{
		Name:      "values",
		Doc:       "Values of a field, for completion.",
		Serves:    []string{"values", "values-post"},
		Variables: finding,
	},
	{
		Name:      "logs",
		Doc:       "Request records.",
		Serves:    []string{"logs", "logs-post"},
		Variables: querying,
	},
	{
		Name:      "why",
		Doc:       "Why a request was stopped.",
		Serves:    []string{"why", "why-post"},
		Variables: querying,
	},
	{
		Name:      "query-status",
		Doc:       "Answers of queries that take longer than a request.",
		Serves:    []string{"query-status", "query-cancel"},
		Variables: querying,
	},
	{
		Name:      "parse",
		Doc:       "Converts filters.",
		Serves:    []string{"parse"},
		Variables: settings,
	},
	{
		Name:      "fields",
		Doc:       "Lists the fields of filters.",
		Serves:    []string{"fields"},
		Variables: settings,
	},
	{
		Name:      "status",
		Doc:       "Reports the data, limits and routes of the deployment.",
		Serves:    []string{"status"},
		Variables: []Variable{Table, LakeBucket, QueryTimeout, Version},
	},
	{
		Name:      "planet-get",
		Doc:       "Reads planet settings.",
		Serves:    []string{"planet-get"},
		Variables: settings,
	},
	{
		Name:      "planet-put",
		Doc:       "Writes planet settings.",
		Serves:    []string{"planet-put", "planet-restore"},
		Variables: settings,
	},
	{
		Name:      "planet-versions",
		Doc:       "Reads the history of planet settings.",
		Serves:    []string{"planet-versions", "planet-version"},
		Variables: settings,
	},
	{
		Name:      "filter-get",
		Doc:       "Reads saved filters and their history.",
		Serves:    []string{"filters", "filter-get", "filter-versions", "filter-version"},
		Variables: settings,
	},
	{
		Name:      "filter-put",
		Doc:       "Writes and deletes saved filters, and restores earlier ones.",
		Serves:    []string{"filter-put", "filter-delete", "filter-restore"},
		Variables: settings,
	},
	{
		Name:      "list-get",
		Doc:       "Lists of values, and their history.",
		Serves:    []string{"lists", "list-get", "list-versions", "list-version"},
		Variables: listing,
	},
	{
		Name:      "list-put",
		Doc:       "Writes lists of values.",
		Serves:    []string{"list-put", "list-delete", "list-restore"},
		Variables: listing,
	},
	{
		Name:      "incidents",
		Doc:       "Attacks of a period.",
		Serves:    []string{"incidents", "incidents-post"},
		Variables: querying,
	},
	{
		Name:      "effect",
		Doc:       "What a change did.",
		Serves:    []string{"effect", "effect-post"},
		Variables: querying,
	},
	{
		Name:      "whatif",
		Doc:       "What a rule would have done.",
		Serves:    []string{"whatif", "whatif-post"},
		Variables: querying,
	},
	{
		Name:      "report-now",
		Doc:       "Reports about a period, made at once.",
		Serves:    []string{"report", "report-post"},
		Variables: querying,
	},
	{
		Name: "report-get",
		Doc:  "Reads scheduled reports, their history and their runs.",
		Serves: []string{
			"reports", "report-get", "report-versions", "report-version", "report-runs", "report-run-get",
		},
		Variables: []Variable{Table, Reports, Version},
	},
	{
		Name:      "report-put",
		Doc:       "Writes and deletes scheduled reports, restores earlier ones, and requests runs.",
		Serves:    []string{"report-put", "report-delete", "report-restore", "report-run"},
		Variables: []Variable{Table, Reports, Version},
	},
	{
		Name:      "not-found",
		Doc:       "Answers every other path, and describes the service.",
		Serves:    []string{"health", "openapi", "page", "page-folder", "page-file"},
		Variables: []Variable{Version},
	},
	{
		Name:      "console",
		Doc:       "Serves the files of the browser console.",
		Serves:    []string{"console", "console-file"},
		Variables: []Variable{Version},
	},
	{
		Name:      Part,
		Doc:       "Counts parts of large questions for other functions.",
		Variables: []Variable{LakeBucket, Results, Version},
	},
	{
		Name:      "ingest",
		Doc:       "Turns raw logs into Parquet.",
		Variables: feeding,
	},
	{
		Name:      "compact",
		Doc:       "Merges the Parquet objects of an hour.",
		Variables: keeping,
	},
	{
		Name:      "reconcile",
		Doc:       "Sends raw logs again that have not arrived.",
		Variables: sending,
	},
	{
		Name:      "report-tick",
		Doc:       "Queues the scheduled reports that are due.",
		Variables: []Variable{Table, ReportQueue, Version},
	},
	{
		Name:      "report",
		Doc:       "Makes and delivers scheduled reports.",
		Variables: making,
	},
}

// StandsFor returns the functions that Older stands for: those that answer requests with API keys.
func StandsFor() []Function {
	return slices.DeleteFunc(slices.Clone(functions), func(f Function) bool {
		return f.Serves == nil || !slices.Contains(f.Variables, Table)
	})
}

func older() Function {
	f := Function{Name: Older, Doc: "Answers every route below the older base paths."}
	for _, other := range StandsFor() {
		f.Serves = append(f.Serves, other.Serves...)
		for _, v := range other.Variables {
			if !slices.Contains(f.Variables, v) {
				f.Variables = append(f.Variables, v)
			}
		}
	}
	return f
}

// Named returns the function of that name.
func Named(name string) (Function, bool) {
	i := slices.IndexFunc(All, func(f Function) bool { return f.Name == name })
	if i < 0 {
		return Function{}, false
	}
	return All[i], true
}
