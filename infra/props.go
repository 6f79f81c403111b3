package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// Props is everything a deployment can choose. The zero value is none: start from defaults.
type Props struct {
	Name         string // begins the name of every stack, function, queue and alarm
	Stage        string // of the gateway; the first part of its own URL
	Architecture string // of the functions: arm64 or amd64
	Zips         string // folder of the functions' zips, ARCHITECTURE/FUNCTION.zip in it
	Version      string // of the program, told to the functions

	Domain      string // of the API; "" for the gateway's own
	Certificate string // ARN of the domain's certificate, in the region of the stack

	ProjectionFrom int // first year of which records are kept; what is older is quarantined
	RawDays        int // raw logs are deleted after; 0 keeps them
	LakeDays       int // Parquet objects are deleted after; 0 keeps them
	ResultDays     int // answers of Athena are deleted after
	LogDays        int // logs of functions and gateway; one of CloudWatch's terms

	InteractiveCutoff int // bytes that one query of a route may scan
	ReportsCutoff     int // bytes that one query of a report may scan

	RequestsPerSecond int  // that the gateway lets through; a data route gets half
	Burst             int  // above RequestsPerSecond for a moment
	GatewayAccount    bool // whether this stack sets the account's role for gateway logs

	IngestSeconds     int // that one batch of raw objects may take
	IngestConcurrency int // instances of ingest at once
	CompactMinutes    int // between two runs of compact

	AlarmEmail     string // gets alarms and budget warnings; "" for nobody
	BudgetUSD      int    // a month
	ScannedAlarmGB int    // that all queries of an hour may scan before the cost alarm
	QuietHours     int    // without a new raw log before an alarm
}

// minimumCutoff is the least that Athena takes.
const minimumCutoff = 10_000_000

var defaults = Props{
	Name: "orrery", Stage: "live", Architecture: "arm64", Zips: ".build", Version: "dev",
	ProjectionFrom: 2000, RawDays: 0, LakeDays: 0, ResultDays: 7, LogDays: 30,
	InteractiveCutoff: 100_000_000_000, ReportsCutoff: 1_000_000_000_000,
	RequestsPerSecond: 100, Burst: 200, GatewayAccount: true,
	IngestSeconds: 900, IngestConcurrency: 10, CompactMinutes: 15,
	BudgetUSD: 500, ScannedAlarmGB: 1000, QuietHours: 6,
}

// setting is a property as the command line names it: cdk deploy -c NAME=VALUE, or "context" of cdk.json.
type setting struct {
	name string
	text *string // one of these three is set
	int  *int
	bool *bool
	doc  string
}

// settings is the properties in the order of README.md, whose table a test compares with this one.
func (p *Props) settings() []setting {
	return []setting{
		{name: "name", text: &p.Name, doc: "Begins the name of everything. Lower-case letters, digits and `-`."},
		{name: "stage", text: &p.Stage, doc: "Stage of the gateway."},
		{name: "architecture", text: &p.Architecture, doc: "Of the functions: `arm64` or `amd64`."},
		{name: "zips", text: &p.Zips, doc: "Folder that `scripts/build.sh` filled."},
		{name: "version", text: &p.Version, doc: "Of the program, as the functions tell it."},
		{name: "domain", text: &p.Domain, doc: "Domain of the API; needs `certificate`. Without it: the gateway's own."},
		{name: "certificate", text: &p.Certificate, doc: "ARN of the domain's certificate, in the region of the deployment."},
		{name: "projection-from", int: &p.ProjectionFrom, doc: "First year kept; older records are quarantined."},
		{name: "raw-days", int: &p.RawDays, doc: "Raw logs are deleted after so many days; 0 keeps them."},
		{name: "lake-days", int: &p.LakeDays, doc: "Queryable data is deleted after so many days; 0 keeps it."},
		{name: "result-days", int: &p.ResultDays, doc: "Athena's answers are deleted after so many days."},
		{name: "log-days", int: &p.LogDays, doc: "Logs of functions and gateway: 1, 3, 5, 7, 14, 30, 60, 90, 180 or 365 days."},
		{name: "interactive-cutoff", int: &p.InteractiveCutoff, doc: "Bytes that one query of a data route may scan."},
		{name: "reports-cutoff", int: &p.ReportsCutoff, doc: "Bytes that one query of a report may scan."},
		{name: "requests-per-second", int: &p.RequestsPerSecond, doc: "Let through by the gateway; a data route gets half."},
		{name: "burst", int: &p.Burst, doc: "Let through above that for a moment."},
		{name: "gateway-account", bool: &p.GatewayAccount, doc: "`false` if the account's role for gateway logs is set elsewhere."},
		{name: "ingest-seconds", int: &p.IngestSeconds, doc: "Time for one batch of raw logs; a failed one is tried again after six times this."},
		{name: "ingest-concurrency", int: &p.IngestConcurrency, doc: "Instances of `ingest` at once. An account with a limit of 10 cannot reserve any: use 0."},
		{name: "compact-minutes", int: &p.CompactMinutes, doc: "Between two runs of `compact`."},
		{name: "alarm-email", text: &p.AlarmEmail, doc: "Gets alarms and budget warnings."},
		{name: "budget-usd", int: &p.BudgetUSD, doc: "Budget of a month."},
		{name: "scanned-alarm-gb", int: &p.ScannedAlarmGB, doc: "Scanned by all queries of an hour before the cost alarm."},
		{name: "quiet-hours", int: &p.QuietHours, doc: "Without a new raw log before an alarm, up to 24."},
	}
}

// readProps takes the properties that were given over the defaults. The context gives nil for what was not set.
// Errors name every property that makes no sense.
func readProps(context func(name string) any) (Props, error) {
	p := defaults
	var mistakes []error
	for _, s := range p.settings() {
		if given := context(s.name); given != nil {
			if err := s.set(fmt.Sprint(given)); err != nil {
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

// namePattern is what buckets, stacks and queues all take.
var namePattern = regexp.MustCompile(`^[a-z][a-z0-9-]{0,30}[a-z0-9]$`)

func (p Props) check() (mistakes []error) {
	refuse := func(if_ bool, format string, args ...any) {
		if if_ {
			mistakes = append(mistakes, fmt.Errorf(format, args...))
		}
	}
	refuse(!namePattern.MatchString(p.Name), "property name: %q must be 2 to 32 lower-case letters, digits and -, beginning with a letter", p.Name)
	refuse(architectures[p.Architecture] == nil, "property architecture: %q is neither arm64 nor amd64", p.Architecture)
	refuse(logTerms[p.LogDays] == "", "property log-days: CloudWatch keeps logs for 1, 3, 5, 7, 14, 30, 60, 90, 180 or 365 days, not %d", p.LogDays)
	refuse((p.Domain == "") != (p.Certificate == ""), "properties domain and certificate belong together")
	refuse(p.ProjectionFrom < 1970 || p.ProjectionFrom > 9999, "property projection-from: %d is no year from 1970 on", p.ProjectionFrom)
	refuse(p.IngestSeconds < 120 || p.IngestSeconds > 900, "property ingest-seconds: ingest needs 120 seconds, and a function gets 900, not %d", p.IngestSeconds)
	refuse(p.QuietHours < 1 || p.QuietHours > 24, "property quiet-hours: an alarm looks back 1 to 24 hours, not %d", p.QuietHours)
	for _, s := range p.settings() {
		refuse(s.int != nil && *s.int < 0, "property %s: is less than 0", s.name)
	}
	for name, cutoff := range map[string]int{"interactive-cutoff": p.InteractiveCutoff, "reports-cutoff": p.ReportsCutoff} {
		refuse(cutoff < minimumCutoff, "property %s: Athena takes no less than %d", name, minimumCutoff)
	}
	return mistakes
}

// checkZips names what is missing before the CDK does it in the words of its own files.
func (p Props) checkZips() error {
	for _, f := range functions() {
		if _, err := os.Stat(p.zip(f)); err != nil {
			return fmt.Errorf("the zip of function %s is missing: %w; run scripts/build.sh", f.Name, err)
		}
	}
	return nil
}

func (p Props) zip(f function) string { return filepath.Join(p.Zips, p.Architecture, f.Name+".zip") }
