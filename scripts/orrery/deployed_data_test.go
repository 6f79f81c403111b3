package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/scripts/internal/localaws"
	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/shared/testkit/testlevel"
)

// testData puts the same logs into the deployment of the folder dir and imports them into the server's folder, and
// queries both. The first log is put as into a deployment on AWS.
func testData(t *testing.T, d *localaws.Deployment, dir string, s *targets, data string) {
	logs := testLogs(t)
	var files []string
	for _, log := range logs {
		files = append(files, log.file)
		_, stderr, code := orrery(t, "", "import", "--data", data, "--as", pathInBucket(data, log.file), log.file)
		if code != exit.Done && code != exit.Rejected {
			t.Fatalf("import %s: exit %d: %s", log.file, code, stderr)
		}
	}
	began := time.Now()
	useDeployment(t, d)
	for _, put := range [][]string{
		append([]string{"--stack", localaws.Name}, files[:1]...),
		append([]string{"--dir", dir}, files[1:]...),
	} {
		stdout, stderr, code := orrery(t, "", append([]string{"put", "--history"}, put...)...)
		under := ": put as s3://" + d.Outputs["RawBucketName"] + "/raw/history/"
		if code != exit.Done || strings.Count(stdout, under) != len(put)-2 {
			t.Fatalf("put %s: exit %d: %s%s", put, code, stdout, stderr)
		}
	}
	for _, log := range logs {
		waitFor(t, d, "the records of "+log.file, func() bool { return countDeployed(t, s, log.period) >= log.records })
		t.Logf("%s: %d records were queryable after %.1f s",
			filepath.Base(log.file), log.records, time.Since(began).Seconds())
	}
	waitFor(t, d, "an empty queue", func() bool { return waiting(t, d, "RawQueueURL", bothStates...) == 0 })
	var asked []string
	for _, filters := range [][]string{dataFilters, hostileFilters} {
		for i := 0; i < len(filters); i += testlevel.Of(2, 2, 1) {
			asked = append(asked, filters[i])
		}
	}
	askData(t, s, asked...)
	askAll(t, s, otherQuestions())
	t.Run("small questions need no Athena", func(t *testing.T) { testScan(t, s) })
	t.Run("lists of values", func(t *testing.T) { testLists(t, s) })
	t.Run("links to a record", func(t *testing.T) { testReferences(t, s) })
	t.Run("conclusions", func(t *testing.T) { testConclusions(t, s) })
	if _, there := realLogs(t); there {
		askData(t, s, realFilters...)
	}
}

// testScan asks the deployment questions that its functions answer themselves. No instance has figures of them.
func testScan(t *testing.T, s *targets) {
	for _, route := range []string{"timeline", "stats", "topx", "facets", "logs"} {
		path := "/api/v4.0/data/" + route + "?filters=" + url.QueryEscape(wholeDay+", status!=598")
		response, body := s.askOne(t, s.deployed, apiRequest{method: "GET", path: path})
		var answer struct {
			Meta struct {
				Engine       string  `json:"engine"`
				BytesScanned int64   `json:"bytes_scanned"`
				CostUSD      float64 `json:"cost_usd"`
			}
		}
		if err := json.Unmarshal(body, &answer); err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d, %v: %s", route, response.StatusCode, err, body)
		}
		if m := answer.Meta; m.Engine != "scan" || m.BytesScanned == 0 || m.CostUSD <= 0 {
			t.Errorf("%s: %+v", route, m)
		}
	}
}

// testLists writes lists of values to both targets, reads them, and asks questions that name them.
func testLists(t *testing.T, s *targets) {
	lists := bases[0] + "/conf/prod/lists"
	asText := map[string]string{"Content-Type": "text/plain"}
	wants := func(status int, q apiRequest) []byte {
		t.Helper()
		got, body := s.ask(t, q)
		if got != status {
			t.Errorf("%s %s: %d, want %d: %s", q.method, q.path, got, status, body)
		}
		return body
	}
	wants(http.StatusOK, apiRequest{"PUT", lists + "/far", "US\nDE\n", asText})
	wants(http.StatusOK, apiRequest{"PUT", lists + "/far", "FR\nBR\nJP\n", asText})
	wants(http.StatusOK, apiRequest{"PUT", lists + "/most", "0.0.0.0/1\n2001:db8::/32\n", asText})
	wants(http.StatusUnprocessableEntity, apiRequest{"PUT", lists + "/most", "a\tb\n", asText})
	for _, path := range []string{"", "/far", "/far/versions", "/far/versions/1"} {
		wants(http.StatusOK, apiRequest{method: "GET", path: lists + path})
	}
	// The function answers without a request_id, and Athena with one. The suite of engines has the SQL of each condition.
	for _, condition := range []string{"country in @far", "not country in @far:1", "ip in @most", `ip in @most, request_id="none"`} {
		path := bases[0] + "/data/logs?" + url.Values{"filters": {condition + ", " + wholeDay}}.Encode()
		body := wants(http.StatusOK, apiRequest{method: "GET", path: path})
		if !bytes.Contains(body, []byte(`"lists":[{"list":`)) {
			t.Errorf("%s: the answer does not say which lists it used: %.300s", condition, body)
		}
	}
	unknown := bases[0] + "/data/stats?" + url.Values{"filters": {"country in @near, " + wholeDay}}.Encode()
	wants(http.StatusBadRequest, apiRequest{method: "GET", path: unknown})
}

// testLog is a log to import, with the number of its records and their period.
type testLog struct {
	file    string
	records int
	period  string
}

// testLogs returns an ordinary and a hostile generated log, and the real logs if they are available.
func testLogs(t *testing.T) []testLog {
	t.Helper()
	dir := t.TempDir()
	all := []testLog{
		{filepath.Join(dir, "ordinary.ndjson.gz"), 4000, wholeDay},
		{filepath.Join(dir, "nasty.ndjson"), 600, hostileDay},
	}
	days := [][]string{
		{"--from", "2026-01-01", "--to", "2026-01-01 06:00"},
		{"--from", "2026-02-01", "--to", "2026-02-01 06:00", "--nasty"},
	}
	written := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for i, log := range all {
		arguments := []string{"generate", "--records", strconv.Itoa(log.records), "--output", log.file}
		arguments = append(arguments, days[i]...)
		if _, stderr, code := orrery(t, "", arguments...); code != exit.Done {
			t.Fatalf("generate: exit %d: %s", code, stderr)
		}
		if err := os.Chtimes(log.file, written, written); err != nil { // the command put has the date in the key
			t.Fatal(err)
		}
	}
	if folder, there := realLogs(t); there {
		for name, counted := range realCounts {
			all = append(all, testLog{filepath.Join(folder, name), counted.records, counted.period})
		}
	}
	return all
}

func s3Client(d *localaws.Deployment) *s3.Client {
	return s3.NewFromConfig(d.Config(), func(o *s3.Options) { o.UsePathStyle = true })
}

func putLog(t *testing.T, d *localaws.Deployment, file string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	putObject(t, d, "raw/history/2026/01/01/"+filepath.Base(file), content)
}

// pathInBucket returns a path by which the import into the folder data gives a log the name that it has in the bucket.
// Then the sources have the same ids, so that both targets sort records with the same time in the same order.
func pathInBucket(data, file string) string { return filepath.Join(data, "raw", filepath.Base(file)) }

func putObject(t *testing.T, d *localaws.Deployment, key string, content []byte) {
	t.Helper()
	_, err := s3Client(d).PutObject(t.Context(), &s3.PutObjectInput{
		Bucket: aws.String(d.Outputs["RawBucketName"]), Key: &key, Body: bytes.NewReader(content),
	})
	if err != nil {
		t.Fatal(err)
	}
}

// waitFor waits until a condition holds. It checks every half second, for up to three minutes.
func waitFor(t *testing.T, d *localaws.Deployment, what string, there func() bool) {
	t.Helper()
	waitEvery(t, d, 500*time.Millisecond, what, there)
}

func waitEvery(t *testing.T, d *localaws.Deployment, every time.Duration, what string, there func() bool) {
	t.Helper()
	until := time.After(patience)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for !there() {
		select {
		case <-tick.C:
		case <-until:
			showFunctions(t, d)
			t.Fatalf("timed out while waiting for %s", what)
		}
	}
}

// States of messages: waiting in the queue, or received by a consumer.
const (
	visible  = types.QueueAttributeNameApproximateNumberOfMessages
	inFlight = types.QueueAttributeNameApproximateNumberOfMessagesNotVisible
)

var bothStates = []types.QueueAttributeName{visible, inFlight}

// waiting returns the number of a queue's messages in these states.
func waiting(t *testing.T, d *localaws.Deployment, output string, states ...types.QueueAttributeName) (messages int) {
	t.Helper()
	got, err := sqs.NewFromConfig(d.Config()).GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{
		QueueUrl: aws.String(d.Outputs[output]), AttributeNames: states,
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range got.Attributes {
		n, err := strconv.Atoi(value)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		messages += n
	}
	return messages
}

// Periods of the generated logs.
const (
	wholeDay   = "timestamp between 2026-01-01 and 2026-01-02"
	hostileDay = "timestamp between 2026-02-01 and 2026-02-02"
	bothLogs   = "timestamp between 2026-01-01 and 2026-02-02"
)

// countDeployed returns the number of records of a period in the deployment.
func countDeployed(t *testing.T, s *targets, period string) (requests int) {
	t.Helper()
	parameters := url.Values{"filters": {period}, "segment": {"86400"}}
	response, body := s.askDeployed(t, apiRequest{method: "GET", path: "/api/v4.0/data/stats?" + parameters.Encode()})
	if response.StatusCode != http.StatusOK {
		t.Fatalf("stats: %d %s", response.StatusCode, body)
	}
	var answer struct {
		Data struct {
			Results []struct {
				Requests int `json:"num_of_requests"`
			} `json:"results"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatal(err)
	}
	for _, r := range answer.Data.Results {
		requests += r.Requests
	}
	return requests
}

// dataFilters has filters with every kind of field and operator, in both forms.
var dataFilters = []string{
	wholeDay,
	`blocked is true, timestamp between 2026-01-01 01:00 and 2026-01-01 02:30`,
	`status in (403, 404, 429), not method = GET, ` + wholeDay,
	`path ~ (?i)^/(login|api), country != US, ` + wholeDay,
	`headers["user-agent"] ~ bot, trigger_counters["acl"] >= 0, ` + wholeDay,
	`request_time between 0.1 and 5, ` + wholeDay,
	`{"AND":[{"field":"timestamp","op":"between","value":["2026-01-01","2026-01-02"]},` +
		`{"field":"tags","op":"regex","value":"^geo"},{"field":"result","op":"not eq","value":"Passed"}]}`,
	`host = "nobody.example", ` + wholeDay,
	`path ~ (a+)+b(, ` + wholeDay,
}

// hostileFilters has filters for the hostile records. They are not used with topx, because engines differ in the number
// of keys that they sum, and some sums exceed 64 bits, which is an error.
var hostileFilters = []string{
	hostileDay,
	`timestamp between 2026-01-31 and 2100-01-01`,
	`not path ~ [a-z], headers[~"."] ~ ., ` + hostileDay,
}

// realFilters has filters for the real logs.
var realFilters = []string{
	`timestamp between 1970-01-01 and 2015-01-02`, // starts before the first hour of the deployment
	`timestamp between 2015-05-17 and 2015-05-19, status=404`,
	`timestamp between 2015-10-25 and 2015-10-28, method=POST`,
	`timestamp between 2023-04-24 and 2023-04-26, not blocked is true`,
	`timestamp between 2022-07-05 and 2022-07-06, path~"phpinfo"`,
}

// askData sends requests with each filter to every route, several at a time.
func askData(t *testing.T, s *targets, filters ...string) {
	t.Helper()
	askAll(t, s, dataQuestions(t, filters))
}

// askAll sends requests, several at a time.
func askAll(t *testing.T, s *targets, questions []apiRequest) {
	t.Helper()
	t.Run("requests", func(t *testing.T) {
		for _, q := range questions {
			t.Run(q.method+" "+q.path, func(t *testing.T) {
				t.Parallel()
				s.ask(t, q)
			})
		}
	})
}

// testReferences checks that both targets give a record the same reference, because their sources have the same ids,
// and that the reference leads to the record, without a period.
func testReferences(t *testing.T, s *targets) {
	ask := func(filter string) []byte {
		t.Helper()
		parameters := url.Values{"filters": {filter}, "fields": {"record_ref,request_id"}, "limit": {"3"}}
		status, body := s.ask(t, apiRequest{method: "GET", path: "/api/v4.0/data/logs?" + parameters.Encode()})
		if status != http.StatusOK {
			t.Fatalf("%s: %d %s", filter, status, body)
		}
		return body
	}
	type record struct {
		Ref string `json:"record_ref"`
		ID  string `json:"request_id"`
	}
	var newest, linked struct {
		Data struct{ Results []record }
	}
	if err := json.Unmarshal(ask(wholeDay), &newest); err != nil || len(newest.Data.Results) != 3 {
		t.Fatalf("%d records, %v", len(newest.Data.Results), err)
	}
	want := newest.Data.Results[1]
	if err := json.Unmarshal(ask("record_ref="+want.Ref), &linked); err != nil {
		t.Fatal(err)
	}
	if got := linked.Data.Results; len(got) != 1 || got[0] != want {
		t.Errorf("%s leads to %+v, want %+v", want.Ref, got, want)
	}
}

// testConclusions checks that both targets find the same incidents, effects, outcomes of rules and marks, and explain a blocked request
// alike. These answers need several questions, so the deployment may need several requests for them.
func testConclusions(t *testing.T, s *targets) {
	blocked := url.Values{"filters": {"blocked is true, " + wholeDay}, "fields": {"record_ref"}, "limit": {"1"}}
	_, body := s.ask(t, apiRequest{method: "GET", path: bases[0] + "/data/logs?" + blocked.Encode()})
	var found struct {
		Data struct {
			Results []struct {
				Ref string `json:"record_ref"`
			}
		}
	}
	if err := json.Unmarshal(body, &found); err != nil || len(found.Data.Results) != 1 {
		t.Fatalf("%v: %s", err, body)
	}
	type conclusion struct {
		Data struct{ Results []map[string]any }
		Meta struct{ Marks []map[string]any }
	}
	// read returns the results and the marks of an answer. A ticket has the address of the console, which is not the same.
	read := func(r reply, body []byte) conclusion {
		var answer conclusion
		if err := json.Unmarshal(body, &answer); err != nil || r.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %v %.500s", r.url, r.StatusCode, err, body)
		}
		for _, one := range answer.Data.Results {
			delete(one, "ticket")
		}
		return answer
	}
	marks := "/data/histogram?" + url.Values{"filters": {bothLogs}, "segment": {"86400"}, "marks": {"true"}}.Encode()
	for _, path := range []string{
		"/data/why?" + url.Values{"record_ref": {found.Data.Results[0].Ref}}.Encode(),
		"/data/incidents?" + url.Values{"filters": {wholeDay}}.Encode(),
		"/data/effect?" + url.Values{"at": {"2026-01-01 12:00"}, "length": {"6h"}}.Encode(),
		"/data/whatif?" + url.Values{"filters": {wholeDay}, "rule": {"limit 5 per 10m by ip"}}.Encode(),
		"/data/whatif?" + url.Values{"filters": {wholeDay}, "rule": {"block where status>=400"}}.Encode(),
		marks,
	} {
		q := apiRequest{method: "GET", path: bases[0] + path}
		want := read(s.askOne(t, s.local, q))
		if path == marks && len(want.Meta.Marks) == 0 {
			t.Errorf("%s: no marks, although the logs have different revisions of the settings", path)
		}
		response, body := s.askOne(t, s.deployed, q)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		until := time.Now().Add(patience)
		for response.StatusCode == http.StatusGatewayTimeout && time.Now().Before(until) {
			<-tick.C
			response, body = s.askOne(t, s.deployed, q)
		}
		if diff := cmp.Diff(want, read(response, body)); diff != "" {
			t.Errorf("%s (-server +deployment):\n%s", path, diff)
		}
	}
}

// dataQuestions returns requests with each filter to every route. It alternates between the base paths and between the
// parameters, so that every parameter is used with each base path.
func dataQuestions(t *testing.T, filters []string) (all []apiRequest) {
	for i, filter := range filters {
		base := bases[i%len(bases)]
		for route, turns := range map[string][]url.Values{
			"topx": {{}, {"limit": {"3"}}}, "stats": {{"segment": {"3600"}}}, "timeline": {{"segment": {"900"}}},
			"logs":   {{"limit": {"25"}}, {"limit": {"40"}, "fields": {"timestamp,request_id,status,headers"}}},
			"facets": {{}, {"by": {"status,tags,headers[\"accept\"]"}}}, "histogram": {{"segment": {"3600"}, "by": {"country"}}},
			"diff": {{"select": {"status>=400"}}, {"against": {"previous"}, "by": {"status,tags"}}},
		} {
			// Some of the filters are enough, because Trino takes seconds for each query.
			switch route {
			case "facets", "histogram", "diff":
				if i%len(bases) > 0 {
					continue
				}
			case "topx", "timeline":
				if i%2 > 0 || route == "topx" && slices.Contains(hostileFilters, filter) {
					continue
				}
			}
			parameters := turns[i/len(bases)%len(turns)]
			parameters.Set("filters", filter)
			all = append(all, apiRequest{method: "GET", path: base + "/data/" + route + "?" + parameters.Encode()})
		}
		if i%2 == 0 {
			continue
		}
		body, err := json.Marshal(map[string]any{"filters": filter, "limit": 5})
		if err != nil {
			t.Fatal(err)
		}
		post := bases[(i+1)%len(bases)] + "/data/logs"
		all = append(all, apiRequest{"POST", post, string(body), map[string]string{"Content-Type": "application/json"}})
	}
	return all
}

// otherQuestions returns requests with further parameters, and some that are refused.
func otherQuestions() (all []apiRequest) {
	day := "filters=" + url.QueryEscape(wholeDay)
	for _, query := range []string{
		"stats?segment=3600&group_by=tags&figures=percentiles&", "topx?limit=3&figures=percentiles&",
	} {
		all = append(all, apiRequest{method: "GET", path: "/api/v4.0/data/" + query + day})
	}
	for _, query := range []string{"", day + "&limit=9999", "filters=x&fliters=y", day + "&segment=7"} {
		all = append(all, apiRequest{method: "GET", path: "/api/v4.0/data/stats?" + query})
	}
	return all
}

// testLongQueries starts a query with Prefer: respond-async, polls for the answer, and cancels another query.
func testLongQueries(t *testing.T, d *localaws.Deployment, s *targets) {
	path := "/api/v4.0/data/topx?" + url.Values{"filters": {"status != 200, " + wholeDay}}.Encode()
	async := apiRequest{method: "GET", path: path, header: map[string]string{"Prefer": "respond-async"}}
	started, body := s.askOne(t, s.deployed, async)
	location := started.Header.Get("Location")
	if started.StatusCode != http.StatusAccepted || location == "" || started.Header.Get("Retry-After") == "" {
		t.Fatalf("the query was not started: %d, headers %v: %s", started.StatusCode, started.Header, body)
	}
	at := s.pathOf(t, started)
	anonymous := &targets{deployed: s.deployed}
	response, _ := anonymous.askOne(t, s.deployed, apiRequest{method: "GET", path: at})
	if response.StatusCode != http.StatusUnauthorized {
		t.Errorf("the answer without a key: %d", response.StatusCode)
	}
	var status int
	waitFor(t, d, "the answer at "+at, func() bool {
		var response reply
		response, body = s.askOne(t, s.deployed, apiRequest{method: "GET", path: at})
		status = response.StatusCode
		return status != http.StatusAccepted
	})
	_, waited := s.ask(t, apiRequest{method: "GET", path: path})
	if status != http.StatusOK || fmt.Sprint(comparable(body)) != fmt.Sprint(comparable(waited)) {
		t.Errorf("the polled answer differs: %d\n%s\n%s", status, body, waited)
	}
	path = "/api/v4.0/data/topx?" + url.Values{"filters": {"status != 202, " + wholeDay}}.Encode()
	started, _ = s.askOne(t, s.deployed, apiRequest{method: "GET", path: path, header: async.header})
	response, body = s.askOne(t, s.deployed, apiRequest{method: "DELETE", path: s.pathOf(t, started)})
	// A conflict means that the query has finished.
	if response.StatusCode >= http.StatusBadRequest && response.StatusCode != http.StatusConflict {
		t.Errorf("cancel: %d %s", response.StatusCode, body)
	}
}

// pathOf returns the Location of a response of the deployment as a path of the API.
func (s *targets) pathOf(t *testing.T, response reply) string {
	t.Helper()
	location, err := response.url.Parse(response.Header.Get("Location")) // as a client does
	if err != nil {
		t.Fatalf("%d: %v", response.StatusCode, err)
	}
	path, ok := strings.CutPrefix(location.String(), s.deployed)
	if !ok {
		t.Fatalf("%s is not at %s", location, s.deployed)
	}
	return path
}

// testPoison puts an unreadable log into the bucket, and checks that it ends in quarantine, that its message is done
// and that other records are not affected.
func testPoison(t *testing.T, d *localaws.Deployment, s *targets) {
	before := countDeployed(t, s, wholeDay)
	putObject(t, d, "raw/poison.ndjson.gz", []byte("\x1f\x8bthis is no gzip"))
	waitFor(t, d, "a note in quarantine", func() bool {
		found, err := s3Client(d).ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{
			Bucket: aws.String(d.Outputs["LakeBucketName"]), Prefix: aws.String("quarantine/whole/raw/poison"),
		})
		if err != nil {
			t.Fatal(err)
		}
		return len(found.Contents) > 0
	})
	waitFor(t, d, "an empty queue", func() bool { return waiting(t, d, "RawQueueURL", bothStates...) == 0 })
	if n := waiting(t, d, "RawDeadLettersURL", bothStates...); n > 0 {
		t.Errorf("%d dead letters", n)
	}
	if after := countDeployed(t, s, wholeDay); after != before {
		t.Errorf("%d records, %d before", after, before)
	}
}

// retryAfter makes the queue deliver a message again after seconds instead of the quarter of an hour of the stack.
func retryAfter(t *testing.T, d *localaws.Deployment, seconds int) {
	t.Helper()
	_, err := sqs.NewFromConfig(d.Config()).SetQueueAttributes(t.Context(), &sqs.SetQueueAttributesInput{
		QueueUrl:   aws.String(d.Outputs["RawQueueURL"]),
		Attributes: map[string]string{"VisibilityTimeout": strconv.Itoa(seconds)},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// testKilled kills ingest while it imports a log, and checks that no record is lost or imported twice.
func testKilled(t *testing.T, d *localaws.Deployment, s *targets, data string) {
	const records = 20_000
	log := filepath.Join(t.TempDir(), "killed.ndjson")
	_, stderr, code := orrery(t, "", "generate", "--records", strconv.Itoa(records), "--seed", "77",
		"--from", "2026-01-01 08:00", "--to", "2026-01-01 12:00", "--output", log)
	if code != exit.Done {
		t.Fatal(stderr)
	}
	as := pathInBucket(data, log)
	if _, stderr, code := orrery(t, "", "import", "--data", data, "--as", as, log); code != exit.Done {
		t.Fatal(stderr)
	}
	before := countDeployed(t, s, wholeDay)
	retryAfter(t, d, 10)
	putLog(t, d, log)
	waitEvery(t, d, 20*time.Millisecond, "ingest to receive a message", func() bool {
		return waiting(t, d, "RawQueueURL", inFlight) > 0 && killFunctions(t, d, "orrery-ingest") > 0
	})
	waitFor(t, d, "the records of a log whose ingest was killed", func() bool {
		return countDeployed(t, s, wholeDay) == before+records && waiting(t, d, "RawQueueURL", bothStates...) == 0
	})
	askData(t, s, wholeDay, dataFilters[1])
}

// killFunctions kills the processes of a function and returns their number.
func killFunctions(t *testing.T, d *localaws.Deployment, name string) (killed int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(d.Functions(), "*.pid"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		of, err := os.ReadFile(file)
		if err != nil || string(of) != name {
			continue // the process has ended meanwhile, or belongs to another function
		}
		pid, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(file), ".pid"))
		if err != nil {
			t.Fatal(err)
		}
		if syscall.Kill(pid, syscall.SIGKILL) == nil {
			killed++
		}
	}
	return killed
}

// testCompaction waits until the schedule has started compact twice and days are rolled up, and checks that the answers
// stay the same. A function that looks for rollups before there are any does so again after a minute.
func testCompaction(t *testing.T, d *localaws.Deployment, s *targets) {
	waitFor(t, d, "the schedule to start compact, and the first rollups", func() bool {
		log, err := os.ReadFile(filepath.Join(d.Functions(), "orrery-compact.log"))
		return err == nil && bytes.Count(log, []byte(`"msg":"compacted"`)) >= 2 &&
			bytes.Contains(log, []byte(`"msg":"rolled up"`))
	})
	askData(t, s, wholeDay, dataFilters[1])
}

// testLost puts a log while the bucket sends no notifications, and checks that the command reconcile has it imported.
func testLost(t *testing.T, d *localaws.Deployment, s *targets, data string) {
	const records = 500
	log := filepath.Join(t.TempDir(), "lost.ndjson")
	_, stderr, code := orrery(t, "", "generate", "--records", strconv.Itoa(records), "--seed", "78",
		"--from", "2026-01-01 14:00", "--to", "2026-01-01 16:00", "--output", log)
	if code != exit.Done {
		t.Fatal(stderr)
	}
	as := pathInBucket(data, log)
	if _, stderr, code := orrery(t, "", "import", "--data", data, "--as", as, log); code != exit.Done {
		t.Fatal(stderr)
	}
	before := countDeployed(t, s, wholeDay)
	withoutNotifications(t, d, func() { putLog(t, d, log) })
	expectReconciled(t, d, "sent 1 lost log again\n")
	waitFor(t, d, "the records of a log whose notification was lost", func() bool {
		return countDeployed(t, s, wholeDay) == before+records && waiting(t, d, "RawQueueURL", bothStates...) == 0
	})
	expectReconciled(t, d, "sent 0 lost logs again\n")
	stats := apiRequest{method: "GET", path: "/api/v4.0/data/stats?filters=" + url.QueryEscape(wholeDay)} // it has counted them
	questions := dataQuestions(t, []string{wholeDay})
	for _, q := range questions { // the other functions may still know the state before
		waitFor(t, d, q.path+" to know the same objects as stats", func() bool {
			return objectsDeployed(t, s, q) == objectsDeployed(t, s, stats)
		})
	}
	askAll(t, s, questions)
}

// testBundles puts small logs of an hour that is not due to be compacted, and checks that compaction bundles their objects
// and that the answers stay the same.
func testBundles(t *testing.T, d *localaws.Deployment, s *targets, data string) {
	const logs, records = 20, 50
	hour := time.Now().UTC().Truncate(time.Hour)
	at := func(d time.Duration) string { return hour.Add(d).Format("2006-01-02 15:04:05") }
	for i := range logs {
		log := filepath.Join(t.TempDir(), fmt.Sprintf("small-%d.ndjson", i))
		_, stderr, code := orrery(t, "", "generate", "--records", strconv.Itoa(records), "--seed", strconv.Itoa(1000+i),
			"--from", at(0), "--to", at(time.Minute), "--output", log)
		if code == exit.Done {
			_, stderr, code = orrery(t, "", "import", "--data", data, "--as", pathInBucket(data, log), log)
		}
		if code != exit.Done {
			t.Fatal(stderr)
		}
		putLog(t, d, log)
	}
	period := fmt.Sprintf("timestamp between %s and %s", at(0), at(time.Minute))
	waitFor(t, d, "the records of small logs", func() bool { return countDeployed(t, s, period) == logs*records })
	questions := dataQuestions(t, []string{period})
	for _, q := range questions {
		waitFor(t, d, q.path+" to know a bundle", func() bool { return objectsDeployed(t, s, q) < logs/2 })
	}
	askAll(t, s, questions)
}

// objectsDeployed returns the number of objects with records of the period of a question, as the deployment knows them.
// It would read some of them, and have the figures of the others from rollups.
func objectsDeployed(t *testing.T, s *targets, q apiRequest) int {
	t.Helper()
	q.path += "&dry_run=true"
	response, body := s.askDeployed(t, q)
	var answer struct {
		Meta struct {
			Estimate struct {
				Objects *int `json:"objects"`
				Reused  int  `json:"objects_reused"`
			} `json:"estimate"`
		} `json:"meta"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || response.StatusCode != http.StatusOK || answer.Meta.Estimate.Objects == nil {
		t.Fatalf("%s: %d %s, %v", q.path, response.StatusCode, body, err)
	}
	return *answer.Meta.Estimate.Objects + answer.Meta.Estimate.Reused
}

// withoutNotifications does something while the raw bucket sends no notifications.
func withoutNotifications(t *testing.T, d *localaws.Deployment, do func()) {
	t.Helper()
	client, bucket := s3Client(d), aws.String(d.Outputs["RawBucketName"])
	set := func(c *s3types.NotificationConfiguration) {
		t.Helper()
		_, err := client.PutBucketNotificationConfiguration(t.Context(), &s3.PutBucketNotificationConfigurationInput{
			Bucket: bucket, NotificationConfiguration: c,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	got, err := client.GetBucketNotificationConfiguration(t.Context(), &s3.GetBucketNotificationConfigurationInput{
		Bucket: bucket,
	})
	if err != nil || len(got.QueueConfigurations) != 1 {
		t.Fatalf("the bucket sends notifications to %v: %v", got.QueueConfigurations, err)
	}
	set(&s3types.NotificationConfiguration{})
	defer set(&s3types.NotificationConfiguration{QueueConfigurations: got.QueueConfigurations})
	do()
}

// expectReconciled runs the command reconcile for logs of any age, and checks that its output contains a text.
func expectReconciled(t *testing.T, d *localaws.Deployment, want string) {
	t.Helper()
	command := exec.Command(buildBinary(t), "reconcile", "--stack", localaws.Name, "--min-age", "0s")
	command.Env = append(environment(), d.Environment()...)
	output, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(output), want) {
		t.Errorf("reconcile: %v\n%s", err, output)
	}
}
