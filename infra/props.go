package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/report/destination"
)

// Props holds everything that a deployment can choose. The zero value is not valid; start from defaults.
type Props struct {
	Name         string // prefix of the name of every stack, function, queue and alarm
	Stage        string // of the gateway; the first part of the path of its own URL
	Architecture string // of the functions: arm64 or amd64
	Zips         string // folder of the functions' zips, as ARCHITECTURE/FUNCTION.zip
	Version      string // of the program, a variable of the functions

	Domain      string // of the API; "" for the gateway's own domain
	Certificate string // ARN of the domain's certificate, in the region of the stack
	Console     bool   // whether the gateway serves the browser console at /

	ProjectionFrom int // first year of the records that are kept; older ones are quarantined
	HorizonDays    int // age of the oldest records that are kept when their log arrives; 0 for any
	RawDays        int // days until raw logs are deleted; 0 keeps them
	LakeDays       int // days until Parquet objects are deleted; 0 keeps them
	ResultDays     int // days until Athena's results are deleted; must exceed lambdas.KeepQueries
	LogDays        int // days until the logs of functions and gateway are deleted; one of logTerms

	ScanMegabytes     int // megabytes of columns that a function reads itself for one query
	PartsAtOnce       int // parts of a large question that are counted at once; 0: Athena answers large questions
	InteractiveCutoff int // bytes that one query of a route may scan
	ReportsCutoff     int // bytes that one query of a report may scan

	RequestsPerSecond int  // rate limit of the gateway; a data route gets half, and so do older base paths
	Burst             int  // burst limit of the gateway, in requests, divided in the same way
	GatewayAccount    bool // whether this stack sets the account's role for gateway logs

	IngestSeconds      int  // timeout of ingest
	IngestConcurrency  int  // maximum number of instances of ingest
	ReserveConcurrency bool // whether IngestConcurrency instances are reserved for ingest, and some for each schedule
	CompactMinutes     int  // minutes from one run of compact to the next
	CompactMegabytes   int  // memory of compact

	Reports string // where scheduled reports may be sent: JSON for destination.ReadJSON; "": nowhere

	AlarmEmail     string // receives alarms and budget warnings; "": alarms are only shown
	BudgetUSD      int    // monthly budget in US dollars
	ScannedAlarmGB int    // bytes scanned by the queries of an hour that raise the cost alarm, in GB
	QuietHours     int    // hours without a new raw log that raise an alarm
}

// minimumCutoff is the smallest scan limit that Athena accepts, in bytes.
const minimumCutoff = 10_000_000

// Limits of IngestSeconds.
const (
	shortestIngest = int(lambdas.ShortestIngest / time.Second)
	longestRun     = int(lambdas.LongestRun / time.Second)
)

var defaults = Props{
	Name: "orrery", Stage: "live", Architecture: "arm64", Zips: ".build", Version: lambdas.Version.Default,
	ProjectionFrom: 2000, HorizonDays: 35, RawDays: 0, LakeDays: 0, ResultDays: 7, LogDays: 30,
	ScanMegabytes: lambdas.DefaultScan, PartsAtOnce: lambdas.DefaultPartsAtOnce,
	InteractiveCutoff: 100_000_000_000, ReportsCutoff: 1_000_000_000_000,
	RequestsPerSecond: 100, Burst: 200, GatewayAccount: true, Console: true,
	IngestSeconds: longestRun, IngestConcurrency: 5, CompactMinutes: 3, CompactMegabytes: lambdas.DefaultCompactMemory,
	BudgetUSD: 500, ScannedAlarmGB: 1000, QuietHours: 26,
}

// setting is a property by its name on the command line, cdk deploy -c NAME=VALUE, or in "context" of cdk.json.
type setting struct {
	name string
	text *string // exactly one of text, int and bool is set
	int  *int
	bool *bool
	doc  string
}

// settings returns the properties in the order of README.md. A test compares its table with this one.
func (p *Props) settings() []setting {
	return []setting{
		{name: "name", text: &p.Name, doc: "Prefix of the names of all resources: lower-case letters, digits and `-`."},
		{name: "stage", text: &p.Stage, doc: "Stage of the gateway."},
		{name: "architecture", text: &p.Architecture, doc: "Architecture of the functions: `arm64` or `amd64`."},
		{name: "zips", text: &p.Zips, doc: "Folder of the zips that `scripts/build.sh` builds."},
		{name: "version", text: &p.Version, doc: "Version of the program, which the functions report."},
		{
			name: "domain", text: &p.Domain,
			doc: "Domain of the API; requires `certificate`. The default is the gateway's own domain.",
		},
		{
			name: "certificate", text: &p.Certificate,
			doc: "ARN of the domain's certificate, in the region of the deployment.",
		},
		{name: "console", bool: &p.Console, doc: "`false` deploys no browser console; `/` answers 404."},
		{
			name: "projection-from", int: &p.ProjectionFrom,
			doc: "First year of the records that are kept; older records are quarantined.",
		},
		{
			name: "horizon-days", int: &p.HorizonDays,
			doc: "Maximum age of a record, in days, when its log arrives; older records are quarantined. 0 keeps all. " +
				"Logs under `raw/history/` are exempt.",
		},
		{name: "raw-days", int: &p.RawDays, doc: "Days until raw logs are deleted; 0 keeps them."},
		{name: "lake-days", int: &p.LakeDays, doc: "Days until queryable data is deleted; 0 keeps it."},
		{
			name: "result-days", int: &p.ResultDays,
			doc: "Days until Athena's results and undelivered reports are deleted; at least 3.",
		},
		{
			name: "log-days", int: &p.LogDays,
			doc: "Days until the logs of functions and gateway are deleted: 1, 3, 5, 7, 14, 30, 60, 90, 180 or 365.",
		},
		{
			name: "scan-megabytes", int: &p.ScanMegabytes,
			doc: "Maximum number of megabytes of columns that [a function reads itself](#scans-in-functions) for one " +
				"question. Larger questions are [counted in parts](#large-questions), or Athena answers them; 0 " +
				"treats all questions as larger.",
		},
		{
			name: "parts-at-once", int: &p.PartsAtOnce,
			doc: "Maximum number of [parts of a large question](#large-questions) that functions count at the same time, up to " +
				"400; with 0, Athena answers large questions.",
		},
		{
			name: "interactive-cutoff", int: &p.InteractiveCutoff,
			doc: "Maximum number of bytes that a query of a data route scans.",
		},
		{name: "reports-cutoff", int: &p.ReportsCutoff, doc: "Maximum number of bytes that a query of a report scans."},
		{
			name: "requests-per-second", int: &p.RequestsPerSecond,
			doc: "Rate limit of the gateway, in requests per second; each data route gets half, and so do the " +
				"[older base paths](#older-base-paths).",
		},
		{
			name: "burst", int: &p.Burst,
			doc: "Burst limit of the gateway, in requests; each data route and the older base paths get half of it, too.",
		},
		{
			name: "gateway-account", bool: &p.GatewayAccount,
			doc: "`false` if the account's role for gateway logs is set elsewhere.",
		},
		{
			name: "ingest-seconds", int: &p.IngestSeconds,
			doc: "Timeout of `ingest`, 120 to 900. A larger log continues in the next run.",
		},
		{
			name: "ingest-concurrency", int: &p.IngestConcurrency,
			doc: "Maximum number of instances of `ingest`, 2 to 1000.",
		},
		{
			name: "reserve-concurrency", bool: &p.ReserveConcurrency,
			doc: "`true` reserves instances: `ingest-concurrency` for `ingest`, 2 for `compact`, 1 for `reconcile` and 2 " +
				"for `report`. The account must have 100 more, because Lambda keeps these unreserved.",
		},
		{
			name: "compact-minutes", int: &p.CompactMinutes,
			doc: "Minutes between runs of `compact`; `complete_through` lags by one to two such intervals. If a " +
				"run takes longer, the runs that start meanwhile end at once.",
		},
		{
			name: "compact-megabytes", int: &p.CompactMegabytes,
			doc: "Memory of `compact` in MB, 1769 to 10240. Each 1,769 MB give it one processor, and let it merge " +
				"one more group of objects at the same time: see [large volumes](#large-volumes).",
		},
		{
			name: "reports", text: &p.Reports,
			doc: "[Destinations of scheduled reports](#scheduled-reports): JSON, or the name of a JSON file.",
		},
		{name: "alarm-email", text: &p.AlarmEmail, doc: "Address for alarms and budget warnings."},
		{name: "budget-usd", int: &p.BudgetUSD, doc: "Monthly budget in US dollars."},
		{
			name: "scanned-alarm-gb", int: &p.ScannedAlarmGB,
			doc: "Gigabytes scanned in an hour that raise the cost alarm.",
		},
		{
			name: "quiet-hours", int: &p.QuietHours,
			doc: "Hours without a new raw log that raise an alarm, 1 to 168. " +
				"The default suits logs that come daily; for logs that come every few minutes, set 2.",
		},
	}
}

// readProps returns the defaults, overridden by the properties in the context, which returns nil for a property that is
// not set. The error names every invalid property.
func readProps(context func(name string) any) (Props, error) {
	p := defaults
	var mistakes []error
	for _, s := range p.settings() {
		if given := context(s.name); given != nil {
			text, err := fmt.Sprint(given), error(nil)
			if s.text == &p.Reports {
				text, err = reportsText(given)
			}
			if err == nil {
				err = s.set(text)
			}
			if err != nil {
				mistakes = append(mistakes, fmt.Errorf("property %s: %w", s.name, err))
			}
		}
	}
	return p, errors.Join(append(mistakes, p.check()...)...)
}

func (s setting) set(value string) (err error) {
	switch {
	case s.text != nil:
		*s.text = value
	case s.int != nil:
		*s.int, err = strconv.Atoi(value)
	default:
		*s.bool, err = strconv.ParseBool(value)
	}
	return err
}

// namePattern matches the names that buckets, stacks and queues all accept.
var namePattern = regexp.MustCompile(`^[a-z][a-z0-9-]{0,30}[a-z0-9]$`)

func (p Props) check() (mistakes []error) {
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			mistakes = append(mistakes, fmt.Errorf(format, args...))
		}
	}
	refuse(!namePattern.MatchString(p.Name),
		"property name: %q must be 2 to 32 lower-case letters, digits and -, beginning with a letter", p.Name)
	refuse(architectures[p.Architecture] == nil, "property architecture: %q is neither arm64 nor amd64", p.Architecture)
	refuse(logTerms[p.LogDays] == "",
		"property log-days: must be 1, 3, 5, 7, 14, 30, 60, 90, 180 or 365, not %d", p.LogDays)
	refuse((p.Domain == "") != (p.Certificate == ""), "properties domain and certificate must be set together")
	refuse(p.ProjectionFrom < 1970 || p.ProjectionFrom > 9999,
		"property projection-from: must be a year from 1970 to 9999, not %d", p.ProjectionFrom)
	refuse(p.HorizonDays > lambdas.LongestHorizonDays,
		"property horizon-days: must be at most %d, not %d", lambdas.LongestHorizonDays, p.HorizonDays)
	refuse(p.ScanMegabytes > lambdas.LargestScan,
		"property scan-megabytes: must be at most %d, not %d", lambdas.LargestScan, p.ScanMegabytes)
	refuse(p.PartsAtOnce > lambdas.MostPartsAtOnce,
		"property parts-at-once: must be at most %d, not %d", lambdas.MostPartsAtOnce, p.PartsAtOnce)
	refuse(p.IngestSeconds < shortestIngest || p.IngestSeconds > longestRun,
		"property ingest-seconds: must be %d to %d, not %d", shortestIngest, longestRun, p.IngestSeconds)
	refuse(p.IngestConcurrency < 2 || p.IngestConcurrency > 1000, // the limits of an event source
		"property ingest-concurrency: must be 2 to 1000, not %d", p.IngestConcurrency)
	refuse(p.CompactMegabytes < lambdas.CoreMemory || p.CompactMegabytes > lambdas.MostMemory,
		"property compact-megabytes: must be %d to %d, not %d", lambdas.CoreMemory, lambdas.MostMemory, p.CompactMegabytes)
	refuse(p.ResultDays < 3, "property result-days: must be at least 3, not %d", p.ResultDays)
	settings, err := destination.ReadJSON(p.Reports)
	if err != nil {
		mistakes = append(mistakes, fmt.Errorf("property reports: %w", err))
	}
	refuse(permissionsLength(settings.Needs()) > mostPermissions,
		"property reports: a policy of IAM cannot have the permissions for so many destinations and domains")
	refuse(len(p.Reports) > mostReports, "property reports: must have at most %d bytes, not %d", mostReports,
		len(p.Reports))
	refuse(p.QuietHours < 1 || p.QuietHours > 168, // an alarm judges a week at most
		"property quiet-hours: must be 1 to 168, not %d", p.QuietHours)
	for _, s := range p.settings() {
		refuse(s.int != nil && *s.int < 0, "property %s: must not be negative", s.name)
	}
	refuse(p.InteractiveCutoff < minimumCutoff, "property interactive-cutoff: must be at least %d", minimumCutoff)
	refuse(p.ReportsCutoff < minimumCutoff, "property reports-cutoff: must be at least %d", minimumCutoff)
	return mistakes
}

// checkZips returns an error that names a missing zip. The CDK's own error would not say how to build it.
func (p Props) checkZips() error {
	for _, f := range p.functions() {
		if _, err := os.Stat(p.zip(f)); err != nil {
			return fmt.Errorf("the zip of function %s is missing: %w; run scripts/build.sh", f.Name, err)
		}
	}
	return nil
}

// zip returns the path of a function's zip.
func (p Props) zip(f function) string { return filepath.Join(p.Zips, p.Architecture, f.Name+".zip") }
