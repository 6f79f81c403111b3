package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/scripts/internal/localaws"
	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/keys"
)

// TestDeployed deploys the stacks of infra/ to LocalStack as `orrery up` does. It sends the same requests to the
// deployment, only over HTTP through the gateway, and to a server on this machine, and checks that the responses are
// the same. It takes minutes and has the requirements of LocalStack and the CDK.
func TestDeployed(t *testing.T) {
	if os.Getenv("ORRERY_TEST_DEPLOYED") == "" {
		t.Skip("deploying to LocalStack takes minutes; set ORRERY_TEST_DEPLOYED=1 to run this test")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	output := &lockedBuffer{}
	dir := t.TempDir()
	fromYear := 2025 // for each question, Trino goes through all hours since then
	if _, there := realLogs(t); there {
		fromYear = 2015
	}
	d, err := localaws.Start(t.Context(), localaws.Options{
		Root: root, Dir: dir, Output: output, FromYear: fromYear, Record: true,
		Context: []string{"compact-minutes=1", "reports=" + deployedReports},
	})
	if localaws.Missing(err) && os.Getenv("CI") != "true" {
		t.Skipf("this machine lacks a requirement: %v\n%s", err, output)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	t.Cleanup(func() {
		if err := d.Stop(); err != nil {
			t.Error(err)
		}
	})
	// The name that a server gives to the key of --api-key.
	key, err := d.IssueKey(t.Context(), "api-key", keys.DataRead, keys.ConfRead, keys.ConfWrite,
		keys.ReportRead, keys.ReportWrite)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Publish(key); err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	both := &targets{key: key, deployed: d.API, local: startServer(t, data, "--no-demo", "--api-key", key).base}

	t.Run("LocalStack creates every resource", func(t *testing.T) { testResources(t, d) })
	t.Run("unauthenticated requests and unknown paths", func(t *testing.T) { testUnauthenticated(t, both) })
	t.Run("fields and filters", func(t *testing.T) { testFilters(t, both) })
	t.Run("planets", func(t *testing.T) { testPlanets(t, both) })
	t.Run("saved filters", func(t *testing.T) { testSavedFilters(t, both) })
	revoked := ""
	t.Run("keys", func(t *testing.T) { revoked = testKeys(t, d, both) })
	t.Run("data", func(t *testing.T) { testData(t, d, dir, both, data) })
	var delivery func(t *testing.T)
	if !t.Run("reports are scheduled", func(t *testing.T) { delivery = testScheduling(t, d, both) }) {
		t.FailNow()
	}
	t.Run("values of fields", func(t *testing.T) { testValues(t, both) })
	t.Run("the files of the console", func(t *testing.T) { testConsoleFiles(t, both) })
	t.Run("a walk through the console", func(t *testing.T) { testConsole(t, both) })
	t.Run("a message that names no run becomes a dead letter", func(t *testing.T) { testPoisonedRun(t, d) })
	t.Run("long queries", func(t *testing.T) { testLongQueries(t, d, both) })
	t.Run("the schedule starts compaction", func(t *testing.T) { testCompaction(t, d, both) })
	t.Run("values of compacted hours", func(t *testing.T) { testValues(t, both) })
	t.Run("scheduled reports are delivered", delivery)
	t.Run("parts of questions", func(t *testing.T) { testParts(t, d, both) })
	t.Run("no record is lost or doubled if ingest is killed", func(t *testing.T) { testKilled(t, d, both, data) })
	t.Run("a log whose notification is lost is sent again", func(t *testing.T) { testLost(t, d, both, data) })
	t.Run("small objects are bundled", func(t *testing.T) { testBundles(t, d, both, data) })
	t.Run("an unreadable log ends in quarantine", func(t *testing.T) { testPoison(t, d, both) })
	t.Run("a second deployment changes nothing", func(t *testing.T) { testSecondDeploy(t, d, output, both) })
	t.Run("an upgrade keeps the data", func(t *testing.T) { testUpgrade(t, d, output, both) })
	t.Run("a revoked key is refused", func(t *testing.T) { testRevoked(t, d, both, revoked) })
	t.Run("messages without versions", func(t *testing.T) { testMessages(t, d, both) })
	t.Run("no grant is missing or unused", func(t *testing.T) { testPermissions(t, d, both) })
	if t.Failed() {
		showFunctions(t, d)
	}
}

// notCreated lists the resources that LocalStack's free edition accepts but does not create, and why the test does not
// need them.
var notCreated = map[string]string{
	"AWS::Athena::WorkGroup":     "athenad replaces Athena",
	"AWS::Glue::Database":        "athenad gets the tables from package lake, like the stack",
	"AWS::Glue::Table":           "the same as for the database",
	"AWS::Budgets::Budget":       "is only for people",
	"AWS::CloudWatch::Dashboard": "is only for people",
	"AWS::Logs::MetricFilter":    "is only for an alarm",
	"AWS::Logs::QueryDefinition": "is only for people",
}

// testResources checks that LocalStack created every resource. It reports those that it did not create as complete,
// with the ID "unknown".
func testResources(t *testing.T, d *localaws.Deployment) {
	seen := 0
	for _, stack := range []string{"data", "api", "ops"} {
		for _, r := range resourcesOf(t, d, localaws.Name+"-"+stack) {
			seen++
			if _, excused := notCreated[r.Type]; r.ID == "unknown" && !excused {
				t.Errorf("%s (%s) of stack %s was not created", r.Name, r.Type, stack)
			}
			if !strings.HasSuffix(r.Status, "_COMPLETE") {
				t.Errorf("%s (%s) of stack %s is %s", r.Name, r.Type, stack, r.Status)
			}
		}
	}
	if seen < 100 {
		t.Errorf("the stacks have only %d resources", seen)
	}
}

// stackResource is a resource of a stack.
type stackResource struct{ Name, Type, ID, Status string }

// resourcesOf returns the resources of a stack.
func resourcesOf(t *testing.T, d *localaws.Deployment, stack string) (list []stackResource) {
	t.Helper()
	answer, err := cloudformation.NewFromConfig(d.Config()).DescribeStackResources(t.Context(),
		&cloudformation.DescribeStackResourcesInput{StackName: &stack})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range answer.StackResources {
		list = append(list, stackResource{
			Name:   aws.ToString(r.LogicalResourceId),
			Type:   aws.ToString(r.ResourceType),
			ID:     aws.ToString(r.PhysicalResourceId),
			Status: string(r.ResourceStatus),
		})
	}
	return list
}

// authorization returns the header of a request to a service. LocalStack does not verify the signature.
func authorization(service string) string {
	scope := "20260101/" + localaws.Region + "/" + service + "/aws4_request"
	return "AWS4-HMAC-SHA256 Credential=test/" + scope + ", SignedHeaders=host, Signature=0"
}

// targets are the deployment and a server on this machine.
type targets struct {
	key             string // accepted by both
	deployed, local string // URLs before /api/…
}

// apiRequest is one request to both targets.
type apiRequest struct {
	method, path, body string
	header             map[string]string
}

// ask sends a request to both targets, checks that the responses are the same, and returns that of the deployment.
func (s *targets) ask(t *testing.T, q apiRequest) (status int, body []byte) {
	t.Helper()
	local, localBody := s.askOne(t, s.local, q)
	deployed, body := s.askDeployed(t, q)
	if deployed.StatusCode != local.StatusCode {
		t.Errorf("%s %s: %d from the deployment, %d from the server\n%s\n%s",
			q.method, q.path, deployed.StatusCode, local.StatusCode, body, localBody)
		return deployed.StatusCode, body
	}
	for _, name := range []string{
		"Content-Type", "Etag", "Retry-After", "Allow", "Cache-Control", "Vary", "WWW-Authenticate",
		"Content-Security-Policy",
	} {
		if name == "Content-Type" && local.StatusCode == http.StatusNoContent {
			continue // LocalStack adds one
		}
		if got, want := deployed.Header.Get(name), local.Header.Get(name); got != want {
			t.Errorf("%s %s: %s is %q from the deployment, %q from the server", q.method, q.path, name, got, want)
		}
	}
	if diff := cmp.Diff(comparable(localBody), comparable(body)); diff != "" {
		t.Errorf("%s %s (-server +deployment):\n%s", q.method, q.path, diff)
	}
	return deployed.StatusCode, body
}

func (s *targets) askOne(t *testing.T, base string, q apiRequest) (reply, []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), q.method, base+q.path, strings.NewReader(q.body))
	if err != nil {
		t.Fatal(err)
	}
	if s.key != "" {
		request.SetBasicAuth("", s.key)
	}
	for name, value := range q.header {
		request.Header.Set(name, value)
	}
	return send(t, request)
}

// askDeployed sends a request to the deployment. If the gateway times out, because this machine is slow, it polls for
// the answer.
func (s *targets) askDeployed(t *testing.T, q apiRequest) (reply, []byte) {
	t.Helper()
	response, body := s.askOne(t, s.deployed, q)
	if response.StatusCode != http.StatusGatewayTimeout || response.Header.Get("Location") == "" {
		return response, body
	}
	at := apiRequest{method: "GET", path: s.pathOf(t, response)}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for until := time.Now().Add(patience); time.Now().Before(until); {
		<-tick.C
		if response, body = s.askOne(t, s.deployed, at); response.StatusCode != http.StatusAccepted {
			break
		}
	}
	return response, body
}

// patience is how long a test waits for something that the deployment does not do at all if it is broken. What takes
// seconds on an idle machine takes minutes on a busy one.
const patience = 15 * time.Minute

// reply is a response without its body.
type reply struct {
	StatusCode int
	Header     http.Header
	url        *url.URL // of the request
}

func send(t *testing.T, request *http.Request) (reply, []byte) {
	t.Helper()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if closing := response.Body.Close(); err == nil {
		err = closing
	}
	if err != nil {
		t.Fatal(err)
	}
	return reply{response.StatusCode, response.Header, request.URL}, body
}

// variable lists the members of a response that depend on the time or the target: IDs, times, costs, the engine.
var variable = []string{
	"request_id", "engine", "elapsed_ms", "engine_ms", "queue_ms", "objects", "objects_reused", "rows_considered",
	"bytes_scanned", "cost_usd", "cached", "reused", "at", "by", "version", "complete_through", "estimate", "head",
}

// comparable returns a response without its variable members, as text if it is not JSON.
func comparable(body []byte) any {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return requestID.ReplaceAllString(string(body), "request id: …")
	}
	if answer, ok := value.(map[string]any); ok {
		strip(answer)
		if meta, ok := answer["meta"].(map[string]any); ok {
			strip(meta)
		}
		for _, list := range answer {
			entries, _ := list.([]any)
			for _, entry := range entries {
				if of, ok := entry.(map[string]any); ok && of["etag"] != nil { // versions of a planet
					delete(of, "at")
					delete(of, "by")
				}
			}
		}
	}
	return value
}

// requestID is the last line of an error in plain text.
var requestID = regexp.MustCompile(`request id: \S+`)

func strip(object map[string]any) {
	for _, name := range variable {
		delete(object, name)
	}
}

// bases are the base paths of the API, which are equivalent.
var bases = api.BasePaths()

func testUnauthenticated(t *testing.T, s *targets) {
	for _, base := range bases {
		anonymous := &targets{deployed: s.deployed, local: s.local}
		status, _ := anonymous.ask(t, apiRequest{method: "GET", path: base + "/data/fields"})
		if status != http.StatusUnauthorized {
			t.Errorf("without a key: %d", status)
		}
		wrong := &targets{key: s.key + "x", deployed: s.deployed, local: s.local}
		wrong.ask(t, apiRequest{method: "GET", path: base + "/conf/prod/planets"})
		s.ask(t, apiRequest{method: "PATCH", path: base + "/data/fields"})
		s.ask(t, apiRequest{method: "DELETE", path: base + "/conf/prod/planets/__default__"})
		s.ask(t, apiRequest{method: "GET", path: base + "/data/nothing"})
		s.ask(t, apiRequest{method: "GET", path: base + "/data/queries/none"})
	}
	s.ask(t, apiRequest{method: "GET", path: "/healthz"})
	s.ask(t, apiRequest{method: "GET", path: "/elsewhere/at/all?x=1"})
	// The gateway itself answers requests to a path that is only a prefix of the routes.
	for _, path := range []string{"/api/v4.0", "/api/v4.0/data"} {
		response, body := s.askOne(t, s.deployed, apiRequest{method: "GET", path: path})
		var answer struct {
			Code      int    `json:"code"`
			Message   string `json:"message"`
			RequestID string `json:"request_id"`
		}
		if err := json.Unmarshal(body, &answer); err != nil {
			t.Errorf("%s: %v: %s", path, err, body)
		}
		if answer.Code != response.StatusCode || answer.Message == "" || answer.RequestID == "" {
			t.Errorf("%s: %d %s", path, response.StatusCode, body)
		}
	}
}

// filters lists texts that must pass through URLs, the gateway and events unchanged.
var filters = []string{
	`status=404, timestamp between 2026-01-01 and 2026-01-02`,
	`path = /%3Carea%3E, timestamp between 2026-01-01 and 2026-01-02`,
	`headers["x-a"]="a+b&c;d=%20%2B é 😀 \"q\"", timestamp between 2026-01-01T00:00:00+01:00 and 2026-01-02`,
	`tags ~ (^a,b$), not country in ("DE", "FR"), timestamp between 2026-01-01 and 2026-01-02`,
	`{"AND":[{"field":"timestamp","op":"between","value":["2026-01-01","2026-01-02"]},` +
		`{"field":"host","op":"not eq","value":"shop.example"}]}`,
	`hots="shop.example", status=many`,
	`timestamp between 2026-13-01 and 2026-01-02`,
	``,
}

func testFilters(t *testing.T, s *targets) {
	gzipped := map[string]string{"Accept-Encoding": "gzip"}
	textOfJSON := map[string]string{"Content-Type": "application/json", "Accept": "text/plain"}
	for _, base := range bases {
		s.ask(t, apiRequest{method: "GET", path: base + "/data/fields"})
		s.ask(t, apiRequest{method: "GET", path: base + "/data/fields", header: gzipped})
		s.ask(t, apiRequest{method: "GET", path: base + "/data/fields?x=1"})
		parse := base + "/data/timeline/parse"
		for _, filter := range filters {
			object, err := json.Marshal(map[string]string{"filters": filter})
			if err != nil {
				t.Fatal(err)
			}
			s.ask(t, apiRequest{"POST", parse, string(object), map[string]string{"Content-Type": "application/json"}})
			s.ask(t, apiRequest{"POST", parse, filter, map[string]string{"Content-Type": "text/plain; charset=utf-8"}})
			s.ask(t, apiRequest{"POST", parse, string(object), textOfJSON})
		}
		long := filters[0] + strings.Repeat(`, host != "shop.example"`, 20_000)
		s.ask(t, apiRequest{"POST", parse, long, map[string]string{"Content-Type": "text/plain"}})
		s.ask(t, apiRequest{"POST", parse, strings.Repeat("x", 1<<20+1), map[string]string{"Content-Type": "text/plain"}})
	}
}

func testPlanets(t *testing.T, s *targets) {
	settings := func(name string, more string) string {
		return fmt.Sprintf(`{"name":%q,"trusted_nets":[{"address":"10.0.0.0/8","comment":"é 😀"},`+
			`{"source":"global_filter","gf_id":"e2b0fca0c5a4","comment":""}],`+
			`"ichallenge":{"attrs":{"b":1.50,"a":[null]},"lang":{},"palette":["#fff"],"position":{}}%s}`, name, more)
	}
	with := func(name, value string) map[string]string {
		return map[string]string{"Content-Type": "application/json", name: value}
	}
	plain := map[string]string{"Content-Type": "application/json"}
	for i, base := range bases {
		planets := base + "/conf/prod/planets"
		entry := planets + "/__default__"
		s.ask(t, apiRequest{method: "GET", path: planets})
		s.ask(t, apiRequest{method: "GET", path: base + "/conf/none/planets"})
		s.ask(t, apiRequest{"PUT", entry, settings(fmt.Sprint("earth ", i), ""), plain})
		response, _ := s.askOne(t, s.deployed, apiRequest{method: "GET", path: planets})
		tag := response.Header.Get("Etag")
		s.ask(t, apiRequest{method: "GET", path: planets, header: map[string]string{"If-None-Match": tag}})
		s.ask(t, apiRequest{"PUT", entry, settings("mars", `,"extra":{"kept":true}`), with("If-Match", tag)})
		s.ask(t, apiRequest{"PUT", entry, settings("venus", ""), with("If-Match", tag)})
		s.ask(t, apiRequest{"PUT", entry, settings("big", `,"logo":"`+strings.Repeat("x", 100_000)+`"`), plain})
		s.ask(t, apiRequest{"PUT", entry, settings("too big", `,"logo":"`+strings.Repeat("x", 360_000)+`"`), plain})
		s.ask(t, apiRequest{"PUT", entry, `{"name":""}`, plain})
		s.ask(t, apiRequest{"PUT", planets + "/other", settings("x", ""), plain})
		made := fmt.Sprintf("%s/conf/made%d/planets/__default__", base, i)
		created, _ := s.ask(t, apiRequest{"PUT", made, settings("new", ""), with("If-None-Match", "*")})
		if created != http.StatusOK {
			t.Errorf("creating a planet: %d", created)
		}
		s.ask(t, apiRequest{method: "GET", path: entry + "/versions"})
		s.ask(t, apiRequest{method: "GET", path: entry + "/versions/2"})
		s.ask(t, apiRequest{method: "GET", path: entry + "/versions/99"})
		s.ask(t, apiRequest{method: "POST", path: entry + "/versions/1/restore"})
		s.ask(t, apiRequest{method: "GET", path: planets, header: map[string]string{"Accept": "text/html"}})
		s.ask(t, apiRequest{method: "GET", path: planets})
	}
}

func testSavedFilters(t *testing.T, s *targets) {
	asJSON := map[string]string{"Content-Type": "application/json"}
	for i, base := range bases {
		list := base + "/conf/prod/filters"
		entry := fmt.Sprintf("%s/attack-%d", list, i)
		if status, body := s.ask(t, apiRequest{
			"PUT", entry, `{"filters":"blocked is true, path=\"/login\"","title":"Attack"}`, asJSON,
		}); status != http.StatusOK {
			t.Errorf("saving a filter: %d %s", status, body)
		}
		response, _ := s.askOne(t, s.deployed, apiRequest{method: "GET", path: entry})
		tag := response.Header.Get("Etag")
		with := map[string]string{"Content-Type": "application/json", "If-Match": tag}
		s.ask(t, apiRequest{method: "GET", path: entry})
		s.ask(t, apiRequest{method: "GET", path: entry, header: map[string]string{"If-None-Match": tag}})
		s.ask(t, apiRequest{"PUT", entry, `{"filters":"status>=500"}`, with})
		s.ask(t, apiRequest{"PUT", entry, `{"filters":"status>=400"}`, with})
		s.ask(t, apiRequest{"PUT", entry, `{"filters":"statsu>=400"}`, asJSON})
		s.ask(t, apiRequest{method: "GET", path: list})
		s.ask(t, apiRequest{method: "GET", path: entry + "/versions"})
		s.ask(t, apiRequest{method: "GET", path: entry + "/versions/1"})
		s.ask(t, apiRequest{method: "DELETE", path: entry})
		s.ask(t, apiRequest{method: "GET", path: entry})
		s.ask(t, apiRequest{method: "POST", path: entry + "/versions/1/restore"})
		s.ask(t, apiRequest{method: "GET", path: list})
	}
}

// testKeys creates a key with the command and checks its permissions. It returns the key, which it has revoked.
func testKeys(t *testing.T, d *localaws.Deployment, s *targets) (revoked string) {
	useDeployment(t, d)
	table := d.Outputs["TableName"]
	key := createKey(t, "reader", "--table", table,
		"--scope", "data:read", "--scope", "conf:read", "--branch", "staging")
	reader := &targets{deployed: s.deployed, key: key}
	topx := bases[0] + "/data/topx?" + url.Values{"filters": {wholeDay}}.Encode()
	asJSON := map[string]string{"Content-Type": "application/json"}
	planets := bases[0] + "/conf/prod/planets"
	for _, c := range []struct {
		apiRequest
		status int
		text   string
	}{
		{apiRequest{method: "GET", path: bases[0] + "/data/fields"}, http.StatusOK, `"acl_triggers"`},
		{apiRequest{method: "GET", path: planets}, http.StatusNotFound, "no configuration"}, // of another branch
		{apiRequest{"PUT", planets + "/__default__", `{"name":"x"}`, asJSON}, http.StatusForbidden, "conf:write"},
		{apiRequest{method: "GET", path: topx}, http.StatusOK, `branch in (\"staging\")`},
	} {
		response, body := reader.askOne(t, s.deployed, c.apiRequest)
		if response.StatusCode != c.status || !bytes.Contains(body, []byte(c.text)) {
			t.Errorf("%s %s with a key to read one branch: %d, want %d and %q: %.500s",
				c.method, c.path, response.StatusCode, c.status, c.text, body)
		}
	}
	if _, stderr, code := orrery(t, "", "key", "revoke", "reader", "--table", table); code != exit.Done {
		t.Errorf("revoke exited %d: %s", code, stderr)
	}
	return reader.key
}

// useDeployment makes the commands that a test runs use the services of the deployment as AWS.
func useDeployment(t *testing.T, d *localaws.Deployment) {
	t.Helper()
	variables := map[string]string{}
	for _, variable := range d.Environment() {
		name, value, _ := strings.Cut(variable, "=")
		variables[name] = value
	}
	configureAWS(t, variables)
}

// testRevoked checks that the functions refuse a revoked key after they have cached it for a minute at most.
func testRevoked(t *testing.T, d *localaws.Deployment, s *targets, key string) {
	holder := &targets{deployed: s.deployed, key: key}
	waitFor(t, d, "a revoked key to be refused", func() bool {
		response, _ := holder.askOne(t, s.deployed, apiRequest{method: "GET", path: bases[0] + "/data/fields"})
		return response.StatusCode == http.StatusUnauthorized
	})
}

// testUpgrade deploys another version of the program, and checks that it runs and that the data is still there.
func testUpgrade(t *testing.T, d *localaws.Deployment, output *lockedBuffer, s *targets) {
	if err := d.Deploy(t.Context(), "version=upgraded"); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	for _, function := range []string{"stats", "planet-get", "older", "ingest", "not-found", "console"} {
		var report struct {
			OK      bool   `json:"ok"`
			Version string `json:"version"`
		}
		body := invoke(t, d, localaws.Name+"-"+function, `{"doctor":true}`)
		if err := json.Unmarshal(body, &report); err != nil || report.Version != "upgraded" || !report.OK {
			t.Errorf("the doctor of %s: %v %s", function, err, body)
		}
	}
	askData(t, s, wholeDay, dataFilters[1])
	for _, base := range bases {
		s.ask(t, apiRequest{method: "GET", path: base + "/conf/prod/planets"})
		s.ask(t, apiRequest{method: "GET", path: base + "/conf/prod/planets/__default__/versions"})
	}
}

// invoke invokes a function directly, as the console does.
func invoke(t *testing.T, d *localaws.Deployment, function, event string) []byte {
	t.Helper()
	address := d.Endpoint + "/2015-03-31/functions/" + function + "/invocations"
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(event))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", authorization("lambda"))
	_, body := send(t, request)
	return body
}

// testSecondDeploy deploys the same stacks again, and checks that resources and data stay.
func testSecondDeploy(t *testing.T, d *localaws.Deployment, output *lockedBuffer, s *targets) {
	before, outputs := len(output.String()), d.Outputs
	resources := resourcesOf(t, d, localaws.Name+"-data")
	if err := d.Deploy(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	if got := strings.Count(output.String()[before:], "(no changes)"); got != 3 {
		t.Errorf("%d of 3 stacks had no changes:\n%s", got, output.String()[before:])
	}
	if diff := cmp.Diff(outputs, d.Outputs); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(resources, resourcesOf(t, d, localaws.Name+"-data")); diff != "" {
		t.Error(diff)
	}
	s.ask(t, apiRequest{method: "GET", path: "/api/v4.0/conf/prod/planets"})
}

// showFunctions prints the end of each function's log.
func showFunctions(t *testing.T, d *localaws.Deployment) {
	logs, err := filepath.Glob(filepath.Join(d.Functions(), "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, log := range logs {
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		t.Logf("%s:\n%s", filepath.Base(log), strings.Join(lines[max(0, len(lines)-20):], "\n"))
	}
}

// lockedBuffer is a buffer for the output of several programs at the same time.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
