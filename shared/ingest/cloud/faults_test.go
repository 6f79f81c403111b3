package cloud_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/blob/s3"
	"github.com/orrery/orrery/shared/blob/s3/s3test"
	"github.com/orrery/orrery/shared/fakeaws/iamproxytest"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/cloud"
	"github.com/orrery/orrery/shared/ingest/cloud/arrivals"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/permissions"
	"github.com/orrery/orrery/shared/table/tabledynamo"
	"github.com/orrery/orrery/shared/table/tabledynamo/dynamotest"
	"github.com/orrery/orrery/shared/table/tabletest"
	"github.com/orrery/orrery/shared/testkit/faulttest"
	"github.com/orrery/orrery/shared/testkit/testlevel"
)

// deployment is a world over S3's protocol, and over DynamoDB if a server is available. Every request goes through a
// network with scripted faults.
type deployment struct {
	world
	client  *awss3.Client
	network *faulttest.Transport
	guard   *iamproxytest.Network // behind network: the tasks have the permissions of functions
	ctx     context.Context       // of the tasks
	damaged bool                  // an object of raw/a is damaged before the first compaction, and one after it
}

func newDeployment(t *testing.T) *deployment {
	names := permissions.Names{RawBucket: "raw", LakeBucket: "lake", Table: "*"}
	d := &deployment{guard: iamproxytest.New(t, names, nil), ctx: t.Context()}
	d.network = &faulttest.Transport{Script: faulttest.Never, Base: d.guard}
	d.client = s3test.New(t, d.network, "raw", "lake")
	d.world = world{
		t:     t,
		raw:   s3.New(d.client, "raw"),
		lake:  s3.New(d.client, "lake"),
		table: lakestate.Over(&tabletest.Memory{}),
		time:  testTime.Add(30 * time.Minute),
	}
	if os.Getenv(dynamotest.Variable) != "" {
		table, name := dynamotest.Client(t, func(o *dynamodb.Options) {
			o.HTTPClient = &http.Client{Transport: d.network}
		})
		d.table = lakestate.Over(tabledynamo.New(table, name))
	}
	return d
}

// tasks returns the imports and compactions that the tests disturb, in order.
func (d *deployment) tasks() []func() error {
	return []func() error{
		d.importing("raw/a"),
		d.importing("raw/b"),
		d.damage,
		d.compactingAt(5 * time.Hour),
		d.damageCompacted,
		d.importing("raw/a.1"),
		d.compactingAt(12 * time.Hour),
		d.compactingAt(36 * time.Hour),
	}
}

// compactingAt returns the compaction some time after the first record.
func (d *deployment) compactingAt(after time.Duration) func() error {
	return func() error {
		d.time = testTime.Add(after)
		defer d.guard.As("compact")()
		_, err := d.sequential().Compact(d.ctx, time.Time{})
		return err
	}
}

// importing returns the import of a log.
func (d *deployment) importing(key string) func() error {
	return func() error {
		defer d.guard.As("ingest")()
		_, err := d.sequential().Import(d.ctx, rawlog.Log{Key: key})
		return err
	}
}

// reconciling returns a reconciliation that appends the keys of the logs that it sends. Its clock is far in the future,
// like that of sweep.
func (d *deployment) reconciling(sent *[]string) func() error {
	return func() error {
		defer d.guard.As("reconcile")()
		_, err := arrivals.Reconciliation{
			Raw: d.raw, Table: d.table, Now: future,
			Send: func(_ context.Context, log rawlog.Log, _ time.Time) error {
				*sent = append(*sent, log.Key)
				return nil
			},
		}.Run(d.ctx)
		return err
	}
}

// damage damages the fresh object with the rows r0 and r1.
func (d *deployment) damage() error {
	_, err := d.damageRow("lake/fresh/", "r0")
	return err
}

// damageCompacted damages the compacted object with the row r2, and reports it as a failing query does.
func (d *deployment) damageCompacted() error {
	name, err := d.damageRow("lake/compact/", "r2")
	if err == nil && name != "" {
		defer d.withoutFaults()()
		d.report(lake.NameOf(name), lake.PartitionOf(testTime.UnixMilli())+1)
	}
	return err
}

// damageRow damages the object with a row, without faults of the network.
func (d *deployment) damageRow(prefix, row string) (string, error) {
	if !d.damaged {
		return "", nil
	}
	defer d.withoutFaults()()
	for _, name := range d.names(prefix) {
		if ids, err := requestIDs(d.lake, name); err != nil || slices.Contains(ids, row) {
			return name, errors.Join(err, d.lake.Put(d.t.Context(), name, strings.NewReader("not Parquet"), blob.Always))
		}
	}
	return "", errors.New("no object has the row " + row)
}

// withoutFaults ends the faults of the network until the returned function is called.
func (d *deployment) withoutFaults() (end func()) {
	script := d.network.Script
	d.network.Script = faulttest.Never
	return func() { d.network.Script = script }
}

// sequential returns a Store that sends one request at a time, so that the requests have a fixed order.
func (d *deployment) sequential() *cloud.Store {
	config := d.config()
	config.Copies, config.Footers, config.Options = 1, 1, ingest.Options{Workers: 1}
	config.Bundling = cloud.DefaultBundling
	config.Bundling.Open = 2
	return d.cloudOf(config)
}

func (d *deployment) prepare() {
	d.put("raw/a", records(0, 3, 40*time.Minute)+"garbage\n")
	d.put("raw/b", records(100, 102, 0))
	d.put("raw/a.1", records(0, 3, 40*time.Minute)+"garbage\n"+records(3, 5, 40*time.Minute))
}

// check checks that the lake has every row once and that nothing is left over. name is the name of the case.
func (d *deployment) check(name string) {
	d.t.Helper()
	d.network.Script, d.network.Before = faulttest.Never, nil
	d.sweep()
	want := each(0, 5)
	want["r100"], want["r101"] = 1, 1
	if d.damaged {
		d.expectLost(0) // both objects are rebuilt
		if kept := d.names("quarantine/damaged/"); len(kept) != 4 {
			d.t.Errorf("%s: the quarantine has %v, want two damaged objects and their notes", name, kept)
		}
	}
	d.expect(want)
	if s := d.state(); s.Extent.Rows != 7 {
		d.t.Errorf("%s: the extent has %d rows, want 7", name, s.Extent.Rows)
	}
	for _, prefix := range []string{"lake/_staging/", "lake/_plans/"} {
		if left := d.names(prefix); len(left) > 0 {
			d.t.Errorf("%s: objects are left: %v", name, left)
		}
	}
	kept := slices.DeleteFunc(d.names("quarantine/"), func(name string) bool {
		return strings.HasPrefix(name, "quarantine/damaged/")
	})
	if len(kept) != 1 || strings.Count(d.text(kept[0]), "garbage") != 1 {
		d.t.Errorf("%s: quarantine has %v", name, kept)
	}
	if d.t.Failed() {
		d.t.Fatal(name)
	}
}

// text returns the content of an object in the bucket of the lake.
func (d *deployment) text(name string) string {
	d.t.Helper()
	body, _, err := d.lake.Get(d.t.Context(), name, "", 0)
	if err != nil {
		d.t.Fatal(err)
	}
	text, err := io.ReadAll(body)
	if err := errors.Join(err, body.Close()); err != nil {
		d.t.Fatal(err)
	}
	return string(text)
}

// disturb runs the tasks with a fault at a request. If a task fails, it runs the task again in a network without
// faults. It reports whether the tasks sent so many requests.
func (d *deployment) disturb(at int, script func(first int) faulttest.Script) (reached bool) {
	d.prepare()
	first := d.network.Requests() + at
	harmed := false
	for _, task := range d.tasks() {
		if !harmed {
			d.network.Script = script(first)
		}
		if err := task(); err != nil {
			harmed = true
			d.network.Script, d.network.Before, d.ctx = faulttest.Never, nil, d.t.Context()
			if err := task(); err != nil {
				d.t.Fatalf("fault at request %d: second attempt: %v", at, err)
			}
		}
	}
	return d.network.Requests() > first
}

// stride is the distance between the requests that get a fault.
func stride() int { return testlevel.Of(60, 43, 1) }

func TestFaultAtEveryRequest(t *testing.T) {
	t.Run("all objects are whole", func(t *testing.T) { testFaultAtEveryRequest(t, false) })
	t.Run("an object is damaged", func(t *testing.T) { testFaultAtEveryRequest(t, true) })
}

func testFaultAtEveryRequest(t *testing.T, damaged bool) {
	for _, test := range []struct {
		name   string
		script func(request int, fault faulttest.Fault) faulttest.Script
		fault  faulttest.Fault
	}{
		{"the response is lost", faulttest.At, faulttest.Lose},
		{"the request arrives twice", faulttest.At, faulttest.Duplicate},
		{"the network breaks before the request", faulttest.From, faulttest.Break},
		{"the network breaks after the request", faulttest.From, faulttest.Lose},
		{"this and all later requests are throttled", faulttest.From, faulttest.Throttle},
	} {
		script := func(request int) faulttest.Script { return test.script(request, test.fault) }
		t.Run(test.name, func(t *testing.T) {
			n := 0
			for reached := true; reached; n += stride() {
				d := newDeployment(t)
				d.damaged = damaged
				reached = d.disturb(n, script)
				d.check(fmt.Sprintf("request %d", n))
			}
			if n < 50 {
				t.Errorf("the test reached only %d requests", n)
			}
		})
	}
}

// TestDelayedRequestArrivesAfterRetry lets a request of a process that died arrive after its task has been repeated.
func TestDelayedRequestArrivesAfterRetry(t *testing.T) {
	n := 1
	for reached := true; reached; n += stride() {
		d := newDeployment(t)
		d.prepare()
		first := d.network.Requests() + n
		late := 0
		for _, task := range d.tasks() {
			d.network.Script = func(i int, _ *http.Request) faulttest.Fault {
				switch {
				case i == first:
					return faulttest.Delay
				case i > first && late == 0:
					return faulttest.Break // the process has lost its network
				}
				return faulttest.None
			}
			if err := task(); err == nil {
				continue
			}
			late = 1
			if err := task(); err != nil {
				t.Fatalf("request %d: second attempt: %v", n, err)
			}
			if _, err := d.network.Deliver(); err != nil {
				t.Fatal(err)
			}
		}
		reached = d.network.Requests() > first
		d.check(fmt.Sprintf("request %d delayed", n))
	}
}

// TestRefusalsUnderFaults checks that a note is written about every log that is refused or has no records, in spite of
// faults. As long as there is no note, the import must fail with another error.
func TestRefusalsUnderFaults(t *testing.T) {
	for name, test := range map[string]struct {
		text, note, contains string
		refused              bool
	}{
		"unknown format": {"a b c\nd e f\n", "quarantine/whole/raw/x.json", "reason", true},
		"no records": {`{"processing_stage":6,"timestamp":"yesterday"}` +
			"\n", "quarantine/whole/raw/x.ndjson", "yesterday", false},
		"damaged gzip": {"\x1f\x8b\x08\x00 garbage", "quarantine/whole/raw/x.json", "reason", true},
	} {
		for harm, script := range map[string]func(int) faulttest.Script{
			"throttled":                  func(n int) faulttest.Script { return faulttest.From(n, faulttest.Throttle) },
			"failing":                    func(n int) faulttest.Script { return faulttest.From(n, faulttest.Fail) },
			"killed":                     func(n int) faulttest.Script { return faulttest.From(n, faulttest.Break) },
			"lost":                       func(n int) faulttest.Script { return faulttest.From(n, faulttest.Lose) },
			"duplicated":                 func(n int) faulttest.Script { return faulttest.At(n, faulttest.Duplicate) },
			"executed, then failed once": func(n int) faulttest.Script { return faulttest.At(n, faulttest.FailLate) },
		} {
			t.Run(name+", "+harm, func(t *testing.T) {
				n := 0
				for reached := true; reached; n++ {
					d := newDeployment(t)
					d.put("raw/x", test.text)
					first := d.network.Requests() + n
					d.network.Script = script(first)
					_, err := d.sequential().Import(t.Context(), rawlog.Log{Key: "raw/x"})
					reached = d.network.Requests() > first
					d.network.Script = faulttest.Never
					final := err == nil || fault.KindOf(err) == fault.Invalid
					if final && len(d.names("quarantine/")) == 0 {
						t.Fatalf("request %d: %v, but there is no note", n, err)
					}
					_, err = d.sequential().Import(t.Context(), rawlog.Log{Key: "raw/x"})
					refused := fault.KindOf(err) == fault.Invalid
					if refused != test.refused || !refused && err != nil {
						t.Fatalf("request %d: second attempt: %v", n, err)
					}
					kept := d.names("quarantine/")
					if len(kept) != 1 || kept[0] != test.note || !strings.Contains(d.text(test.note), test.contains) {
						t.Fatalf("request %d: quarantine has %v", n, kept)
					}
					if left := d.names("lake/"); len(left) > 0 {
						t.Fatalf("request %d: the lake has %v", n, left)
					}
				}
				if n < 3 {
					t.Errorf("the test reached only %d requests", n)
				}
			})
		}
	}
}

// TestContextEndsAtEveryRequest ends the context at every request.
func TestContextEndsAtEveryRequest(t *testing.T) {
	n := 1
	for reached := true; reached; n += stride() {
		d := newDeployment(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		d.ctx = ctx
		d.network.Before = func(i int, r *http.Request) {
			if i == n+3 { // the first three requests put the logs
				cancel(context.DeadlineExceeded)
			}
		}
		reached = d.disturb(n, func(int) faulttest.Script { return faulttest.Never })
		cancel(nil)
		d.check(fmt.Sprintf("context ended at request %d", n))
	}
	if n < 50 {
		t.Errorf("the test reached only %d requests", n)
	}
}

// TestUnreliableNetwork gives many requests random faults and repeats every task until it succeeds.
func TestUnreliableNetwork(t *testing.T) {
	for seed := range testlevel.Of[uint64](1, 2, 4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			d := newDeployment(t)
			d.prepare()
			d.network.Script = faulttest.Sometimes(seed, 0.3,
				faulttest.Throttle, faulttest.Fail, faulttest.Break, faulttest.Lose,
				faulttest.FailLate, faulttest.Duplicate, faulttest.Cut)
			for _, task := range d.tasks() {
				for attempts := 1; ; attempts++ {
					err := task()
					if err == nil {
						break
					}
					if attempts == 101 || fault.KindOf(err) == fault.Invalid {
						t.Fatalf("after %d attempts: %v", attempts, err)
					}
				}
			}
			d.check(fmt.Sprintf("seed %d", seed))
		})
	}
}

func future() time.Time { return time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC) }

// sweep runs a compaction that removes the objects of failed attempts. Its clock is far in the future, because the
// servers of tests set the times of objects by the clock of the machine.
func (d *deployment) sweep() {
	config := d.config()
	config.Now = future
	if _, err := d.cloudOf(config).Compact(d.t.Context(), testTime); err != nil {
		d.t.Fatal(err)
	}
}

// TestFunctionsUseTheirGrants runs ingest, compact and reconcile with their permissions through all that they do, and
// looks for grants that none of them needs. Imports that are cut short are finished by the next compaction. The doctor,
// which lists the raw bucket, and versions of raw objects are left to other tests.
func TestFunctionsUseTheirGrants(t *testing.T) {
	if os.Getenv(dynamotest.Variable) == "" {
		t.Skipf("%s names no DynamoDB: start one with scripts/servers/dynamodb.sh start DIR", dynamotest.Variable)
	}
	calls := permissions.Calls{}
	var resources permissions.Resources
	for _, cutShort := range []bool{false, true} {
		d := newDeployment(t)
		d.damaged = !cutShort
		resources = d.guard.Names.Resources()
		d.prepare()
		var sent []string
		if err := d.reconciling(&sent)(); err != nil || len(sent) != 3 {
			t.Fatal(sent, err)
		}
		d.put("raw/c", daysOf(2, 1)) // once it is compacted, the first day is whole
		d.put("raw/d", records(1, 2, 73*time.Hour))
		d.put("raw/e", records(2, 3, 73*time.Hour/2))
		tasks := append(d.tasks(), d.importing("raw/c"), d.compactingAt(72*time.Hour),
			d.importing("raw/d"), d.importing("raw/e"), d.compactingAt(73*time.Hour))
		for _, task := range tasks {
			dead := false
			d.network.Script = func(_ int, r *http.Request) faulttest.Fault {
				dead = dead || cutShort && d.guard.Acting() == "ingest" && r.Header.Get("X-Amz-Copy-Source") != ""
				if dead {
					return faulttest.Break
				}
				return faulttest.None
			}
			if err := task(); (err != nil) != dead {
				t.Fatal(err)
			}
		}
		for function, made := range d.guard.Calls() {
			calls[function] = append(calls[function], made...)
		}
	}
	judged := func(a permissions.Atom) bool {
		tasks := []string{"ingesting", "compacting", "reconciling"}
		return slices.Contains(tasks, a.Task) && a.On != permissions.RawQueue && a.On != permissions.RawDeadLetters &&
			a.On != permissions.RawListing && a.Action != "s3:GetObjectVersion"
	}
	for _, mistake := range permissions.Review(resources, calls, judged) {
		t.Error(mistake)
	}
}
