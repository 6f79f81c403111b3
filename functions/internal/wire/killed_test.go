package wire

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/functions/internal/reports"
	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/blob/s3"
	"github.com/orrery/orrery/shared/blob/s3/s3test"
	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/delivery"
	"github.com/orrery/orrery/shared/report/delivery/deliveryaws"
	"github.com/orrery/orrery/shared/report/destination"
	"github.com/orrery/orrery/shared/report/runs"
	"github.com/orrery/orrery/shared/table/tabledynamo"
	"github.com/orrery/orrery/shared/table/tabledynamo/dynamotest"
	"github.com/orrery/orrery/shared/testkit/testlevel"
)

// TestReportKilledAtEveryStep kills the function report before and after each request that changes something in the
// table, in a bucket, at SES or at SNS, so between every two states of a run, which is a requested or a scheduled one.
// Later instances get the message of report-tick again. Every destination gets the report, and gets it again only if a
// delivery was made but not recorded.
func TestReportKilledAtEveryStep(t *testing.T) {
	client, table := dynamotest.Client(t)
	k := newKillable(t, client, table)
	for _, run := range []struct {
		kind  string
		queue func(name string) runs.Run
	}{{"requested", k.request}, {"scheduled", k.schedule}} {
		for _, after := range []bool{false, true} {
			steps := 0
			for k.kill(run.queue, fmt.Sprintf("%s-%d-%v", run.kind, steps+1, after), steps+1, after) {
				steps += testlevel.Of(3, 3, 1)
			}
			if steps < 15 { // the states are written five times, each delivery is made, and there are files
				t.Errorf("%s, after %v: the function has only %d steps", run.kind, after, steps)
			}
			t.Logf("%s: %d steps", run.kind, steps)
		}
	}
}

// killable is a deployment with one report, whose function report can be killed.
type killable struct {
	*world
	client   *dynamodb.Client
	table    string
	url      string // of the buckets, SES and SNS
	archive  blob.Store
	settings destination.Settings
	now      time.Time

	mutex  sync.Mutex
	mails  []string
	topics []string // messages, each with the attribute run
}

func newKillable(t *testing.T, client *dynamodb.Client, table string) *killable {
	t.Helper()
	k := &killable{world: newWorld(t, "report-delivered"), client: client, table: table, now: at()}
	bucket := s3test.New(t, nil, "files", "archive")
	buckets, err := url.Parse(aws.ToString(bucket.Options().BaseEndpoint))
	if err != nil {
		t.Fatal(err)
	}
	k.archive = s3.New(bucket, "archive")
	objects := httputil.NewSingleHostReverseProxy(buckets)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			objects.ServeHTTP(w, r)
			return
		}
		k.take(r)
		w.Header().Set("Content-Type", "text/xml")
		_, _ = fmt.Fprintf(w, "<R><%sResult><MessageId>1</MessageId></%[1]sResult></R>", r.PostForm.Get("Action"))
	}))
	t.Cleanup(server.Close)
	k.url = server.URL
	if k.settings, err = destination.ReadJSON(`{"mail":{"ses":true,"from":"orrery@shop.example","domains":["shop.example"]},` +
		`"destination":{"archive":{"bucket":"archive"},"topic":{"topic":"arn:aws:sns:us-east-1:123456789012:reports"}}}`); err != nil {
		t.Fatal(err)
	}
	f, _ := lambdas.Named("report")
	e, err := environmentOf(f)
	if err != nil {
		t.Fatal(err)
	}
	k.searching(e)
	k.iam.As("report")
	return k
}

// take keeps what SES and SNS are given.
func (k *killable) take(r *http.Request) {
	if err := r.ParseForm(); err != nil {
		k.t.Error(err)
		return
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if r.PostForm.Get("Action") == "Publish" {
		text := r.PostForm.Get("Message")
		for i := 1; r.PostForm.Has(fmt.Sprintf("MessageAttributes.entry.%d.Name", i)); i++ {
			if r.PostForm.Get(fmt.Sprintf("MessageAttributes.entry.%d.Name", i)) == "run" {
				text += r.PostForm.Get(fmt.Sprintf("MessageAttributes.entry.%d.Value.StringValue", i))
			}
		}
		k.topics = append(k.topics, text)
		return
	}
	text, err := base64.StdEncoding.DecodeString(r.PostForm.Get("RawMessage.Data"))
	if err != nil {
		k.t.Error(err)
	}
	k.mails = append(k.mails, string(text))
}

// kill queues a run of a new report, and kills the function before or after its step n. It reports whether there was
// such a step.
func (k *killable) kill(queue func(name string) runs.Run, name string, n int, after bool) bool {
	k.t.Helper()
	k.now = at()
	run := queue(name)
	k.mails, k.topics = nil, nil
	first := &mortal{killAt: n, after: after}
	k.message(first, run.ID)
	done := first.counts()
	for range 3 {
		if run = k.read(run.ID); run.State.Ended() {
			break
		}
		k.now = k.now.Add(11 * time.Minute) // the lease of the instance that was killed is over
		k.message(&mortal{}, run.ID)
	}
	killed := name + " is killed"
	if run.State != runs.Delivered || run.Partial {
		k.t.Errorf("%s: %+v", killed, run)
	}
	for what, got := range map[string]struct {
		texts []string
		first int
	}{"mails": {k.mails, done.mails}, "messages": {k.topics, done.topics}} {
		if len(got.texts) == 0 || len(got.texts) > got.first+1 {
			k.t.Errorf("%s: %d %s, of which the first instance sent %d", killed, len(got.texts), what, got.first)
		}
		for _, text := range got.texts {
			if text != got.texts[0] || !strings.Contains(text, run.ID) {
				k.t.Errorf("%s: the %s differ, or are not of the run", killed, what)
			}
		}
	}
	objects := 0
	for _, err := range k.archive.List(k.t.Context(), "prod-"+run.Report+"-", "") {
		if err != nil {
			k.t.Fatal(err)
		}
		objects++
	}
	if objects != 4 {
		k.t.Errorf("%s: %d objects", killed, objects)
	}
	return first.dead
}

// reported is the day that the reports are about.
var reported = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// request writes a definition and requests a run of it.
func (k *killable) request(name string) runs.Run {
	k.t.Helper()
	stored := k.define(name, k.now)
	run := runs.New(planet.FirstConfig, name, 1, stored, reported, reported.AddDate(0, 0, 1), k.now)
	run.By = "example"
	if err := runs.Over(tabledynamo.New(k.client, k.table), nil).Create(k.t.Context(), run); err != nil {
		k.t.Fatal(err)
	}
	return run
}

// schedule writes a definition that is due, and lets report-tick queue its run.
func (k *killable) schedule(name string) runs.Run {
	k.t.Helper()
	end := reported.AddDate(0, 0, 1)
	k.define(name, end)
	f, _ := lambdas.Named("report-tick")
	e, err := environmentOf(f)
	if err != nil {
		k.t.Fatal(err)
	}
	var queue sent
	stores := reports.Stores{
		Documents: document.Over(tabledynamo.New(k.client, k.table)), Runs: runs.Over(tabledynamo.New(k.client, k.table), nil), Keys: exampleKeys{},
	}
	tick := reports.TickOver(f, e, k.log, k.client, stores, &queue, func() time.Time { return k.now })
	if _, err := tick.Invoke(k.t.Context(), []byte(`{}`)); err != nil {
		k.t.Fatal(err)
	}
	run := k.read(runs.IDOf(planet.FirstConfig, name, 1, reported, end))
	if run.By != "" || !slices.Contains(queue.bodies, `{"run":"`+run.ID+`"}`) {
		k.t.Fatalf("report-tick has sent %v about the run %+v", queue.bodies, run)
	}
	return run
}

// define writes the definition of a daily report, which is due at three.
func (k *killable) define(name string, when time.Time) definition.Stored {
	k.t.Helper()
	rules := k.settings.Rules()
	d, err := definition.Parse([]byte(`{"period":"day","at":"03:00","template":"attack","compare":"none",`+
		`"deliver":[{"mail":["ops@shop.example"]},{"to":"archive"},{"to":"topic"}]}`), 0, rules)
	if err != nil {
		k.t.Fatal(err)
	}
	stored := definition.Stored{Definition: d, Key: keys.IDOf(keys.HashOf(exampleKey))}
	id := definition.DocumentOf(planet.FirstConfig, name)
	change := document.Change{Text: stored.Text(), By: "example", At: when}
	if _, err := document.Put(k.t.Context(), document.Over(tabledynamo.New(k.client, k.table)), id, change); err != nil {
		k.t.Fatal(err)
	}
	return stored
}

func (k *killable) read(id string) runs.Run {
	k.t.Helper()
	run, err := runs.Over(tabledynamo.New(k.client, k.table), nil).Run(k.t.Context(), id)
	if err != nil {
		k.t.Fatal(err)
	}
	return run
}

// message sends the message about a run to a new instance of report.
func (k *killable) message(m *mortal, run string) {
	k.t.Helper()
	ctx, cancel := context.WithCancel(k.t.Context())
	defer cancel()
	m.cancel = cancel
	payload, err := json.Marshal(events.SQSEvent{Records: []events.SQSMessage{{
		MessageId: "m-1", EventSource: "aws:sqs", Body: `{"run":"` + run + `"}`,
	}}})
	if err != nil {
		k.t.Fatal(err)
	}
	answer, err := k.instance(m).Invoke(ctx, payload)
	if !m.dead && (err != nil || string(answer) != `{"batchItemFailures":[]}`) {
		k.t.Fatalf("%s %v\n%s", answer, err, k.logs.String())
	}
}

// instance returns a new instance of report, whose requests m sends, except those to Athena.
func (k *killable) instance(m *mortal) *function.Function {
	k.t.Helper()
	f, _ := lambdas.Named("report")
	e, err := environmentOf(f)
	if err != nil {
		k.t.Fatal(err)
	}
	client := dynamotest.Connect(k.t, func(o *dynamodb.Options) {
		o.HTTPClient, o.Retryer = &http.Client{Transport: m}, aws.NopRetryer{}
	})
	table := tabledynamo.New(client, k.table)
	table.Pause = func(context.Context, int) error { return nil }
	files := s3.New(s3test.Connect(k.url, m), "files")
	services := deliveryaws.New(aws.Config{
		Region: "us-east-1", BaseEndpoint: &k.url, Credentials: staticCredentials,
		HTTPClient: &http.Client{Transport: m}, Retryer: func() aws.Retryer { return aws.NopRetryer{} },
	})
	stores := reports.Stores{Documents: document.Over(tabledynamo.New(client, k.table)), Runs: runs.Over(table, files), Keys: exampleKeys{}}
	path := reports.Path{
		Search: k.service, States: constant(stateOf(records(k.t))), Settings: k.settings,
		Deliver: delivery.Sender{Settings: k.settings, AWS: services},
		Pause:   func(context.Context, time.Duration) error { return nil },
	}
	return reports.MakeOver(f, e, k.log, client, stores, path, nil, func() time.Time { return k.now })
}

// mortal is the network of an instance that is killed before or after one of its steps: the requests that change
// something. After that, no request of it gets out.
type mortal struct {
	killAt int // 0: never
	after  bool
	cancel context.CancelFunc // stops what the instance does

	mutex sync.Mutex
	dead  bool
	steps int
	sent  handed
}

// handed is what an instance has handed over.
type handed struct{ mails, topics int }

func (m *mortal) counts() handed {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.sent
}

var errKilled = errors.New("the instance was killed")

// RoundTrip implements http.RoundTripper. Steps are taken one after the other, so that the one that is killed is the last.
func (m *mortal) RoundTrip(r *http.Request) (*http.Response, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.dead {
		return nil, errKilled
	}
	if !changes(r) {
		return http.DefaultTransport.RoundTrip(r)
	}
	m.steps++
	last := m.steps == m.killAt
	if last && !m.after {
		return nil, m.die()
	}
	if r.URL.Path == "/" && r.Header.Get("X-Amz-Target") == "" {
		if strings.Contains(r.Header.Get("Authorization"), "/sns/") {
			m.sent.topics++
		} else {
			m.sent.mails++
		}
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if last && err == nil {
		return nil, errors.Join(response.Body.Close(), m.die())
	}
	return response, err
}

func (m *mortal) die() error {
	m.dead = true
	m.cancel()
	return errKilled
}

// changes reports whether a request changes something.
func changes(r *http.Request) bool {
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		return !strings.HasSuffix(target, ".GetItem") && !strings.HasSuffix(target, ".Query")
	}
	return r.Method != http.MethodGet && r.Method != http.MethodHead
}
