package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/athena/types"

	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/record"
	"github.com/orrery/orrery/shared/search"
)

// scenario lists scenes in which an alarm fires and scenes in which it is silent, by title.
type scenario struct{ fires, silent map[string]func(*scene) }

// scenarios lists the scenarios of the alarms that are not about one function, by the name of the alarm.
var scenarios = map[string]scenario{
	"gateway-5xx": {
		fires: map[string]func(*scene){
			"6 failures of 200": func(s *scene) { s.every(5, func(at int) { s.requests(at, 200, 6) }) },
			"failures beside long questions": func(s *scene) {
				s.every(5, func(at int) { s.requests(at, 200, 14); s.longQuestions(at, 8) })
			},
		},
		silent: map[string]func(*scene){
			"long questions": func(s *scene) { s.every(5, func(at int) { s.requests(at, 200, 8); s.longQuestions(at, 8) }) },
			"few requests":   func(s *scene) { s.every(5, func(at int) { s.requests(at, 3, 2) }) },
			"a rare failure": func(s *scene) { s.every(5, func(at int) { s.requests(at, 1000, 8) }) },
			"5 bad minutes":  func(s *scene) { s.every(5, func(at int) { s.requests(at, 100, 50*(at/5%2)) }) },
		},
	},
	"gateway-slow": {
		fires: map[string]func(*scene){"4 of 60": func(s *scene) { s.every(5, func(at int) { s.latency(at, 56, 4) }) }},
		silent: map[string]func(*scene){
			"2 of 60":      func(s *scene) { s.every(5, func(at int) { s.latency(at, 58, 2) }) },
			"few requests": func(s *scene) { s.every(5, func(at int) { s.latency(at, 8, 4) }) },
		},
	},
	"ingest-lag": {
		fires: map[string]func(*scene){"20 minutes": func(s *scene) {
			s.every(1, func(at int) { s.put(at, "AWS/SQS ApproximateAgeOfOldestMessage orrery-raw", 1200) })
		}},
		silent: map[string]func(*scene){"10 minutes": func(s *scene) {
			s.every(1, func(at int) { s.put(at, "AWS/SQS ApproximateAgeOfOldestMessage orrery-raw", 600) })
		}},
	},
	"compact-stopped":        runsEvery(15, "compact", 5),
	"report-tick-stopped":    runsEvery(5, "report-tick", 5),
	"reconcile-stopped":      runsEvery(60, "reconcile", 50),
	"raw-dead-letters":       deadLetters("raw"),
	"compact-dead-letters":   deadLetters("compact"),
	"reconcile-dead-letters": deadLetters("reconcile"),
	"report-dead-letters":    deadLetters("report"),

	"report-tick-dead-letters": deadLetters("report-tick"),
	"compact-behind": {
		fires: map[string]func(*scene){
			"7 hours": func(s *scene) { s.every(15, func(at int) { s.lake(at, 8, 7) }) },
			"runs that are killed after they have logged": func(s *scene) {
				s.every(15, func(at int) { s.lake(at, 0, 2+float64(at)/60) })
			},
			"runs that are killed before they log": func(s *scene) {
				s.until(length-5*60, 15, func(at int) { s.lake(at, 1, 3) })
				s.every(15, func(at int) { s.put(at, "AWS/Lambda Invocations orrery-compact", 1) })
			},
		},
		silent: map[string]func(*scene){
			"3 hours":       func(s *scene) { s.every(15, func(at int) { s.lake(at, 1, 3) }) },
			"an hourly run": func(s *scene) { s.every(60, func(at int) { s.lake(at, 1, 3) }) },
			"an empty lake": func(s *scene) { s.every(15, func(at int) { s.log(at, "compact", logs("lake", "behind_s", 0)) }) },
			"a failed reading": func(s *scene) {
				s.every(15, func(at int) {
					if at%240 > 0 {
						s.lake(at, 1, 3)
					}
				})
			},
		},
	},
	"lost-notifications": {
		fires: map[string]func(*scene){"a lost log": func(s *scene) {
			s.every(60, func(at int) { s.log(at, "reconcile", logs("reconciled", "listed", 9, "lost", 1)) })
		}},
		silent: map[string]func(*scene){"no lost log": func(s *scene) {
			s.every(60, func(at int) { s.log(at, "reconcile", logs("reconciled", "listed", 9, "lost", 0)) })
		}},
	},
	"no-logs": {
		fires: map[string]func(*scene){"nothing for 30 hours": func(s *scene) { s.until(length-30*60, 5, s.arrival) }},
		silent: map[string]func(*scene){
			"logs every 5 minutes":            func(s *scene) { s.every(5, s.arrival) },
			"daily logs, each a little later": func(s *scene) { s.every(24*60+40, s.arrival) },
		},
	},
	"stale": {
		fires: map[string]func(*scene){"no new records for 53 hours": func(s *scene) {
			s.every(15, func(at int) { s.lake(at, 53, 0) })
		}},
		silent: map[string]func(*scene){
			"logs every 5 minutes": func(s *scene) { s.every(15, func(at int) { s.lake(at, 0, 0) }) },
			"daily logs, which arrive after 6 hours": func(s *scene) {
				s.every(15, func(at int) { s.lake(at, 6+float64(at%(24*60))/60, 0) })
			},
		},
	},
	"quarantined": {
		fires: map[string]func(*scene){
			"2 %":       func(s *scene) { s.every(30, func(at int) { s.imported(at, 9_800, 200) }) },
			"all of 20": func(s *scene) { s.every(24*60, func(at int) { s.imported(at, 0, 20) }) },
		},
		silent: map[string]func(*scene){
			"one of a million": func(s *scene) { s.every(30, func(at int) { s.imported(at, 1_000_000, 1) }) },
			"few lines":        func(s *scene) { s.every(60, func(at int) { s.imported(at, 2, 2) }) },
			"no bad line":      func(s *scene) { s.every(30, func(at int) { s.imported(at, 1000, 0) }) },
		},
	},
	"refused": {
		fires: map[string]func(*scene){"a refused log": func(s *scene) {
			refused := handled(s.t, "raw/a.log", ingest.Report{}, fault.New(fault.Invalid, "the gzip file is cut off"))
			s.every(24*60, func(at int) { s.log(at, "ingest", refused...) })
		}},
		silent: map[string]func(*scene){
			"the test file of a load balancer": func(s *scene) {
				ignored := handled(s.t, "raw/AWSLogs/123456789012/ELBAccessLogTestFile", ingest.Report{}, errors.New("imported"))
				s.every(60, func(at int) { s.log(at, "ingest", ignored...) })
			},
			"bad lines": func(s *scene) { s.every(30, func(at int) { s.imported(at, 5, 100) }) },
		},
	},
	"table-throttled": {
		fires: map[string]func(*scene){
			"reads":  func(s *scene) { s.every(5, func(at int) { s.put(at, "AWS/DynamoDB ReadThrottleEvents table", 1) }) },
			"writes": func(s *scene) { s.every(5, func(at int) { s.put(at, "AWS/DynamoDB WriteThrottleEvents table", 1) }) },
		},
		silent: map[string]func(*scene){"5 bad minutes": func(s *scene) {
			s.every(60, func(at int) { s.put(at, "AWS/DynamoDB ReadThrottleEvents table", 9) })
		}},
	},
	"athena-throttled": {
		fires:  map[string]func(*scene){"a throttled query": failing(&types.TooManyRequestsException{})},
		silent: map[string]func(*scene){"another failure": failing(errors.New("connection refused"))},
	},
	"damaged": {
		fires: map[string]func(*scene){
			"a failing query": failing(fault.Wrap(fault.Damaged, errors.New("object a.parquet"), "ask for another period")),
			"an object set aside": func(s *scene) {
				s.every(60, func(at int) { s.log(at, "compact", logs("damaged object set aside", "object", "a.parquet")) })
			},
			"an object that cannot be rebuilt": func(s *scene) {
				s.every(60, func(at int) { s.log(at, "compact", logs("damaged object not rebuilt", "object", "a.parquet")) })
			},
		},
		silent: map[string]func(*scene){
			"another failure": failing(errors.New("connection refused")),
			"a rebuilt object": func(s *scene) {
				s.every(60, func(at int) { s.log(at, "compact", logs("object rebuilt", "object", "a.parquet")) })
			},
		},
	},
	"failed-reports": {
		fires: map[string]func(*scene){
			"a failed run": func(s *scene) {
				s.every(60, func(at int) { s.log(at, "report", logs("scheduled report", "state", "failed", "refused", 0)) })
			},
			"a destination that refuses": func(s *scene) {
				s.every(60, func(at int) { s.log(at, "report", logs("scheduled report", "state", "delivered", "refused", 1)) })
			},
		},
		silent: map[string]func(*scene){"a delivered run": func(s *scene) {
			s.every(60, func(at int) { s.log(at, "report", logs("scheduled report", "state", "delivered", "refused", 0)) })
		}},
	},
	"newer-schema": {
		fires: map[string]func(*scene){"an object of a newer schema": func(s *scene) {
			s.every(60, func(at int) { s.log(at, "compact", logs("object of a newer schema copied as it is", "object", "a")) })
		}},
		silent: map[string]func(*scene){"a compaction": func(s *scene) {
			s.every(60, func(at int) { s.log(at, "compact", logs("compacted", "hours", 1)) })
		}},
	},
	"interactive-cost": scans("interactive"),
	"reports-cost":     scans("reports"),
}

// ofFunctions are the scenarios of the alarms that each function has.
func ofFunctions(name string) map[string]scenario {
	every := func(minutes int, metric string, value float64) map[string]func(*scene) {
		return map[string]func(*scene){metric: func(s *scene) {
			s.every(minutes, func(at int) { s.put(at, "AWS/Lambda "+metric+" orrery-"+name, value) })
		}}
	}
	return map[string]scenario{
		name + "-errors":    {every(60, "Errors", 1), every(5, "Errors", 0)},
		name + "-throttled": {every(5, "Throttles", 1), every(60, "Throttles", 9)},
	}
}

// runsEvery is about a function that runs at intervals of minutes, and has not run for hours.
func runsEvery(minutes int, name string, hours int) scenario {
	run := func(s *scene) func(int) {
		return func(at int) { s.put(at, "AWS/Lambda Invocations orrery-"+name, 1) }
	}
	return scenario{
		map[string]func(*scene){"no runs": func(s *scene) { s.until(length-60*hours, minutes, run(s)) }},
		map[string]func(*scene){"runs": func(s *scene) { s.every(minutes, run(s)) }},
	}
}

func deadLetters(use string) scenario {
	waiting := func(n float64) map[string]func(*scene) {
		return map[string]func(*scene){fmt.Sprint(n): func(s *scene) {
			s.every(5, func(at int) {
				s.put(at, "AWS/SQS ApproximateNumberOfMessagesVisible orrery-"+use+"-dead-letters", n)
			})
		}}
	}
	return scenario{waiting(1), waiting(0)}
}

func scans(use string) scenario {
	hourly := func(gigabytes float64) map[string]func(*scene) {
		return map[string]func(*scene){fmt.Sprint(gigabytes): func(s *scene) {
			s.every(15, func(at int) { s.put(at, "AWS/Athena ProcessedBytes orrery-"+use, gigabytes*1e9/4) })
		}}
	}
	return scenario{hourly(1100), hourly(900)}
}

// failing has the API answer a request whose search fails.
func failing(err error) func(*scene) {
	return func(s *scene) {
		lines := answered(s.t, err)
		s.every(60, func(at int) { s.log(at, "stats", lines...) })
	}
}

// TestAlarms judges the alarms of the templates in testdata by data points and by lines of logs. The API and the
// handler of the queue log their lines in the test. For the other functions, TestLogMetricsMatchTheLog compares the
// metrics with the sources.
func TestAlarms(t *testing.T) {
	all := map[string]scenario{}
	for name, s := range scenarios {
		all[name] = s
	}
	for _, f := range functions() {
		for name, s := range ofFunctions(f.Name) {
			all[name] = s
		}
	}
	ops := testdataTemplate(t, "ops.json")
	metrics := metricsOf(t, testdataTemplate(t, "api.json"))
	for _, id := range ops.of("AWS::CloudWatch::Alarm") {
		a := ops.Resources[id]
		name := strings.TrimPrefix(flat(a.at("AlarmName")), "orrery-")
		of := all[name]
		if len(of.fires) == 0 || len(of.silent) == 0 {
			t.Errorf("alarm %s has no scenarios", name)
		}
		delete(all, name)
		for fires, list := range map[bool]map[string]func(*scene){true: of.fires, false: of.silent} {
			for title, happen := range list {
				s := &scene{t: t, metrics: metrics, samples: map[string][][]float64{}}
				happen(s)
				for _, extra := range []int{0, 2} {
					if got := s.fires(a, extra); got != fires {
						t.Errorf("%s: %s: the alarm fires: %v, with a range of %d more periods", name, title, got, extra)
					}
				}
			}
		}
	}
	for name := range all {
		t.Errorf("there is no alarm %s", name)
	}
}

// TestRunbooksNameTheirAlarms checks that the runbook of each alarm names it.
func TestRunbooksNameTheirAlarms(t *testing.T) {
	text, err := os.ReadFile("../events/RUNBOOKS.md")
	if err != nil {
		t.Fatal(err)
	}
	ops := testdataTemplate(t, "ops.json")
	for _, id := range ops.of("AWS::CloudWatch::Alarm") {
		name := strings.TrimPrefix(flat(ops.Resources[id].at("AlarmName")), "orrery-")
		for _, f := range functions() {
			if kind, ok := strings.CutPrefix(name, f.Name+"-"); ok && (kind == "errors" || kind == "throttled") {
				name = "<function>-" + kind
			}
		}
		_, section, _ := strings.Cut(flat(ops.Resources[id].at("AlarmDescription")), runbooks)
		_, runbook, _ := strings.Cut(string(text), "\n## "+section+"\n")
		runbook, _, _ = strings.Cut(runbook, "\n## ")
		if !strings.Contains(runbook, "`"+name+"`") {
			t.Errorf("the runbook %q does not name the alarm %s", section, name)
		}
	}
}

func testdataTemplate(t *testing.T, name string) (parsed template) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err == nil {
		err = json.Unmarshal(text, &parsed)
	}
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// metricsOf returns the metrics that are read from the log of each function, by the name of the function.
func metricsOf(t *testing.T, api template) map[string][]logMetric {
	t.Helper()
	all := map[string][]logMetric{}
	for _, id := range api.of("AWS::Logs::MetricFilter") {
		r := api.Resources[id]
		group := api.Resources[strings.Trim(flat(r.at("LogGroupName")), "<>")]
		function := strings.TrimPrefix(flat(group.at("LogGroupName")), "/aws/lambda/orrery-")
		read := r.at("MetricTransformations.0")
		all[function] = append(all[function], logMetric{
			name:    flat(at(read, "MetricNamespace")) + " " + flat(at(read, "MetricName")),
			pattern: flat(r.at("FilterPattern")),
			value:   flat(at(read, "MetricValue")),
		})
	}
	return all
}

// length is the length of a scene in minutes. Alarms judge days at most.
const length = 5 * 24 * 60

// scene has the events in a deployment during some days.
type scene struct {
	t       *testing.T
	metrics map[string][]logMetric // by function
	samples map[string][][]float64 // by metric and minute

	longQuestion []line
}

func (s *scene) every(minutes int, happens func(at int)) { s.until(length, minutes, happens) }

func (s *scene) until(end, minutes int, happens func(at int)) {
	for at := 0; at < end; at += minutes {
		happens(at)
	}
}

// put adds values of a metric, which is named by its namespace, its name and the values of its dimensions.
func (s *scene) put(at int, metric string, values ...float64) {
	if s.samples[metric] == nil {
		s.samples[metric] = make([][]float64, length)
	}
	s.samples[metric][at] = append(s.samples[metric][at], values...)
}

// log adds the values that the metrics read from lines of a function's log.
func (s *scene) log(at int, function string, lines ...line) {
	for _, l := range lines {
		for _, m := range s.metrics[function] {
			if value, ok := m.measure(s.t, l); ok {
				s.put(at, m.name, value)
			}
		}
	}
}

// logs returns a line of a log.
func logs(message string, attributes ...any) line {
	l := line{"msg": message}
	for i := 0; i < len(attributes); i += 2 {
		l[attributes[i].(string)] = attributes[i+1]
		if n, ok := attributes[i+1].(int); ok {
			l[attributes[i].(string)] = float64(n)
		}
	}
	return l
}

func (s *scene) requests(at, all, failed int) {
	s.put(at, "AWS/ApiGateway Count orrery live", float64(all))
	s.put(at, "AWS/ApiGateway 5XXError orrery live", float64(failed))
}

// longQuestions adds requests that are answered while their queries go on.
func (s *scene) longQuestions(at, n int) {
	if s.longQuestion == nil {
		s.longQuestion = answered(s.t, &search.TimeoutError{ID: "1234567890123456", RetryAfter: time.Second})
	}
	for range n {
		s.log(at, "stats", s.longQuestion...)
	}
}

func (s *scene) latency(at, fast, slow int) {
	s.put(at, "AWS/ApiGateway Count orrery live", float64(fast+slow))
	s.put(at, "AWS/ApiGateway IntegrationLatency orrery live",
		append(slices.Repeat([]float64{300}, fast), slices.Repeat([]float64{27_000}, slow)...)...)
}

func (s *scene) lake(at int, newestHours, behindHours float64) {
	s.log(at, "compact", logs("lake", "newest_age_s", newestHours*3600, "behind_s", behindHours*3600))
}

func (s *scene) arrival(at int) { s.put(at, "AWS/SQS NumberOfMessagesSent orrery-raw", 1) }

func (s *scene) imported(at int, records, rejected int64) {
	report := ingest.Report{Records: records}
	if rejected > 0 {
		report.Rejected, report.Quarantine = map[record.Code]int64{"bad_json": rejected}, "quarantine/lines/source.ndjson"
	}
	s.log(at, "ingest", handled(s.t, "raw/a.log", report, nil)...)
}

// failingSearch is a search that fails.
type failingSearch struct{ err error }

func (f failingSearch) Search(context.Context, search.Request) (search.Result, error) {
	return search.Result{}, f.err
}

// answered returns the lines that the API logs about a request whose search fails.
func answered(t *testing.T, err error) []line {
	t.Helper()
	var log bytes.Buffer
	handler, failed := api.New(api.Config{
		Search: failingSearch{err}, Log: slog.New(slog.NewJSONHandler(&log, nil)), Now: time.Now, Serves: []string{"stats"},
	})
	if failed != nil {
		t.Fatal(failed)
	}
	w := httptest.NewRecorder()
	const url = "http://localhost/api/v4.0/data/stats?filters=x"
	handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))
	if w.Code < 500 {
		t.Fatalf("the answer is %d", w.Code)
	}
	return linesIn(t, log.String())
}

// fires reports whether an alarm fires in the scene. CloudWatch reads some extra periods, and judges the newest data
// points. Only if there are fewer than the alarm judges, it counts missing ones:
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
func (s *scene) fires(a resource, extra int) bool {
	judged := int(a.at("EvaluationPeriods").(float64))
	beyond := judged
	if n, ok := a.at("DatapointsToAlarm").(float64); ok {
		beyond = int(n)
	}
	missing := map[any]bool{"breaching": true, "notBreaching": false}
	onMissing, known := missing[a.at("TreatMissingData")]
	if !known {
		s.t.Fatalf("missing data are %v", a.at("TreatMissingData"))
	}
	limit := a.at("Threshold").(float64)
	period := s.periodOf(a)
	for end := (judged + extra) * period; end <= length; end += period {
		found, breaching := 0, 0
		for at := end - period; at >= end-(judged+extra)*period && found < judged; at -= period {
			if value, ok := s.valueOf(a, at, at+period); ok {
				found++
				if breaches(s.t, flat(a.at("ComparisonOperator")), value, limit) {
					breaching++
				}
			}
		}
		if onMissing {
			breaching += judged - found
		}
		if breaching >= beyond {
			return true
		}
	}
	return false
}

func breaches(t *testing.T, operator string, value, limit float64) bool {
	t.Helper()
	switch operator {
	case "GreaterThanThreshold":
		return value > limit
	case "LessThanThreshold":
		return value < limit
	}
	t.Fatalf("unknown operator %s", operator)
	return false
}

// periodOf returns the period of an alarm in minutes.
func (s *scene) periodOf(a resource) int {
	period, _ := a.at("Period").(float64)
	metrics, _ := a.at("Metrics").([]any)
	for _, m := range metrics {
		if p, ok := at(m, "MetricStat.Period").(float64); ok {
			period = p
		}
	}
	return int(period) / 60
}

// valueOf returns the data point of an alarm's metric for a period.
func (s *scene) valueOf(a resource, from, to int) (float64, bool) {
	if metrics, ok := a.at("Metrics").([]any); ok {
		values := map[string]func() (float64, bool){}
		var expression string
		for _, m := range metrics {
			if text, ok := at(m, "Expression").(string); ok {
				expression = text
				continue
			}
			metric := at(m, "MetricStat.Metric").(map[string]any)
			values[flat(at(m, "Id"))] = func() (float64, bool) {
				return s.statistic(metric, flat(at(m, "MetricStat.Stat")), from, to)
			}
		}
		parsed, err := parser.ParseExpr(expression)
		if err != nil {
			s.t.Fatalf("%s: %v", expression, err)
		}
		return s.compute(parsed, values)
	}
	name := a.at("ExtendedStatistic")
	if name == nil {
		name = a.at("Statistic")
	}
	return s.statistic(a.Properties, flat(name), from, to)
}

// statistic returns a statistic of the samples of a metric in a period.
func (s *scene) statistic(metric map[string]any, name string, from, to int) (float64, bool) {
	key := flat(metric["Namespace"]) + " " + flat(metric["MetricName"])
	dimensions, _ := metric["Dimensions"].([]any)
	for _, d := range dimensions {
		value, named := at(d, "Value").(string)
		if !named {
			value = "table" // whose name AWS chooses
		}
		key += " " + value
	}
	if s.samples[key] == nil {
		return 0, false
	}
	values := slices.Sorted(slices.Values(slices.Concat(s.samples[key][from:to]...)))
	if len(values) == 0 {
		return 0, false
	}
	percent, isPercentile := strings.CutPrefix(name, "p")
	switch {
	case name == "Sum":
		sum := 0.0
		for _, v := range values {
			sum += v
		}
		return sum, true
	case name == "Minimum":
		return values[0], true
	case name == "Maximum":
		return values[len(values)-1], true
	case isPercentile:
		p, err := strconv.ParseFloat(percent, 64)
		if err != nil {
			s.t.Fatal(err)
		}
		return values[int(math.Ceil(p/100*float64(len(values))))-1], true
	}
	s.t.Fatalf("unknown statistic %s", name)
	return 0, false
}

// compute evaluates an expression over metrics, which is also one of Go. It has no value if it needs a missing one.
func (s *scene) compute(e ast.Expr, values map[string]func() (float64, bool)) (float64, bool) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return s.compute(e.X, values)
	case *ast.Ident:
		return values[e.Name]()
	case *ast.BasicLit:
		number, err := strconv.ParseFloat(e.Value, 64)
		return number, err == nil
	case *ast.CallExpr:
		first, ok := s.compute(e.Args[0], values)
		switch name := e.Fun.(*ast.Ident).Name; {
		case name == "FILL" && ok:
			return first, true
		case name == "FILL":
			return s.compute(e.Args[1], values)
		case name == "IF" && !ok:
			return 0, false
		case name == "IF" && first != 0:
			return s.compute(e.Args[1], values)
		case name == "IF":
			return s.compute(e.Args[2], values)
		}
	case *ast.BinaryExpr:
		x, ok := s.compute(e.X, values)
		y, also := s.compute(e.Y, values)
		switch result := 0.0; e.Op {
		case token.ADD:
			return x + y, ok && also
		case token.SUB:
			return x - y, ok && also
		case token.MUL:
			return x * y, ok && also
		case token.QUO:
			return x / y, ok && also && y != 0
		case token.GEQ:
			if x >= y {
				result = 1
			}
			return result, ok && also
		}
	}
	s.t.Fatalf("the expression has %T", e)
	return 0, false
}
