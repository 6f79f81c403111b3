package cloud_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/orrery/orrery/shared/blob/s3"
	"github.com/orrery/orrery/shared/blob/s3/s3test"
	"github.com/orrery/orrery/shared/dynamotable/dynamotest"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/faulttest"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/cloud"
	"github.com/orrery/orrery/shared/lakestate/lakestatetest"
	"github.com/orrery/orrery/shared/lakestate/statedynamo"
)

// deployment is a world over S3's protocol, and over DynamoDB where there is one: every request goes through a network
// that misbehaves by a script.
type deployment struct {
	world
	network *faulttest.Transport
	ctx     context.Context // of the work that is disturbed
}

func newDeployment(t *testing.T) *deployment {
	d := &deployment{network: &faulttest.Transport{Script: faulttest.Never}, ctx: t.Context()}
	client := s3test.New(t, d.network, "raw", "lake")
	d.world = world{t: t, raw: s3.New(client, "raw"), lake: s3.New(client, "lake"), table: &lakestatetest.Table{}, time: testTime.Add(30 * time.Minute)}
	if os.Getenv(dynamotest.Variable) != "" {
		table, name := dynamotest.Client(t, func(o *dynamodb.Options) { o.HTTPClient = &http.Client{Transport: d.network} })
		d.table = statedynamo.New(table, name)
	}
	return d
}

// works is what is disturbed, one after the other.
func (d *deployment) works() []func() error {
	importLog := func(key string) func() error {
		return func() error {
			_, err := d.calm().Import(d.ctx, cloud.Log{Key: key})
			return err
		}
	}
	compactAt := func(after time.Duration) func() error {
		return func() error {
			d.time = testTime.Add(after)
			_, err := d.calm().Compact(d.ctx, time.Time{})
			return err
		}
	}
	return []func() error{importLog("raw/a"), importLog("raw/b"), compactAt(5 * time.Hour), importLog("raw/c"), compactAt(12 * time.Hour), compactAt(36 * time.Hour)}
}

// calm is a Store of one goroutine, so that its requests have an order.
func (d *deployment) calm() *cloud.Store {
	config := d.config()
	config.Copies, config.Options = 1, ingest.Options{Workers: 1}
	return d.cloudOf(config)
}

func (d *deployment) prepare() {
	d.put("raw/a", records(0, 3, 40*time.Minute)+"garbage\n")
	d.put("raw/b", records(100, 102, 0))
	d.put("raw/c", records(0, 3, 40*time.Minute)+"garbage\n"+records(3, 5, 40*time.Minute))
}

// check looks whether all is there, once, and nothing else.
func (d *deployment) check(what string) {
	d.t.Helper()
	d.network.Script, d.network.Before = faulttest.Never, nil
	d.sweep()
	want := each(0, 5)
	want["r100"], want["r101"] = 1, 1
	d.expect(want)
	if s := d.state(); s.Extent.Rows != 7 {
		d.t.Errorf("%s: the extent has %d rows", what, s.Extent.Rows)
	}
	for _, prefix := range []string{"lake/_staging/", "lake/_plans/"} {
		if left := d.names(prefix); len(left) > 0 {
			d.t.Errorf("%s: left behind: %v", what, left)
		}
	}
	if kept := d.names("quarantine/"); len(kept) != 1 || strings.Count(d.text(kept[0]), "garbage") != 1 {
		d.t.Errorf("%s: quarantine has %v", what, kept)
	}
	if d.t.Failed() {
		d.t.Fatal(what)
	}
}

// text is what an object of the lake's bucket says.
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

// disturb does the works with a fault at a request, and each again if it fails, in a network that is well by then. It
// says whether there was such a request.
func (d *deployment) disturb(at int, script func(first int) faulttest.Script) (reached bool) {
	d.prepare()
	first := d.network.Requests() + at
	harmed := false
	for _, work := range d.works() {
		if !harmed {
			d.network.Script = script(first)
		}
		if err := work(); err != nil {
			harmed = true
			d.network.Script, d.network.Before, d.ctx = faulttest.Never, nil, d.t.Context()
			if err := work(); err != nil {
				d.t.Fatalf("fault at request %d: again: %v", at, err)
			}
		}
	}
	return d.network.Requests() > first
}

// stride is 1 with ORRERY_TEST_LONG, when every request has its fault; else a few of them do.
func stride() int {
	switch {
	case os.Getenv("ORRERY_TEST_LONG") != "":
		return 1
	case testing.Short():
		return 30
	}
	return 6
}

func TestAnyRequestMayFailAnyHow(t *testing.T) {
	for name, script := range map[string]func(int) faulttest.Script{
		"its_answer_is_lost":              func(n int) faulttest.Script { return faulttest.At(n, faulttest.Lose) },
		"it_comes_twice":                  func(n int) faulttest.Script { return faulttest.At(n, faulttest.Duplicate) },
		"the_network_dies_before_it":      func(n int) faulttest.Script { return faulttest.From(n, faulttest.Break) },
		"the_network_dies_after_it":       func(n int) faulttest.Script { return faulttest.From(n, faulttest.Lose) },
		"it_and_all_others_are_throttled": func(n int) faulttest.Script { return faulttest.From(n, faulttest.Throttle) },
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			for reached := true; reached; n += stride() {
				d := newDeployment(t)
				reached = d.disturb(n, script)
				d.check(fmt.Sprintf("%s: request %d", name, n))
			}
			if n < 50 {
				t.Errorf("only %d requests", n)
			}
		})
	}
}

// TestARequestMayComeLate lets a request arrive when the work has been done again: what a dead process has sent.
func TestARequestMayComeLate(t *testing.T) {
	n := 1
	for reached := true; reached; n += stride() {
		d := newDeployment(t)
		d.prepare()
		first := d.network.Requests() + n
		late := 0
		for _, work := range d.works() {
			d.network.Script = func(i int, _ *http.Request) faulttest.Fault {
				switch {
				case i == first:
					return faulttest.Delay
				case i > first && late == 0:
					return faulttest.Break // the process has no network any more
				}
				return faulttest.None
			}
			if err := work(); err == nil {
				continue
			}
			late = 1
			if err := work(); err != nil {
				t.Fatalf("request %d: again: %v", n, err)
			}
			if _, err := d.network.Deliver(); err != nil {
				t.Fatal(err)
			}
		}
		reached = d.network.Requests() > first
		d.check(fmt.Sprintf("request %d late", n))
	}
}

// TestRefusalsUnderFaults: of a log that is refused, or has not one record, a note is left, whatever happens on the way;
// as long as it is not, the log counts as not imported.
func TestRefusalsUnderFaults(t *testing.T) {
	for name, test := range map[string]struct {
		text, note, says string
		refused          bool
	}{
		"no log at all":    {"a b c\nd e f\n", "quarantine/whole/raw/x.json", "reason", true},
		"not one record":   {`{"timestamp":"yesterday"}` + "\n", "quarantine/whole/raw/x.ndjson", "yesterday", false},
		"a broken archive": {"\x1f\x8b\x08\x00 garbage", "quarantine/whole/raw/x.json", "reason", true},
	} {
		for harm, script := range map[string]func(int) faulttest.Script{
			"throttled":   func(n int) faulttest.Script { return faulttest.From(n, faulttest.Throttle) },
			"failing":     func(n int) faulttest.Script { return faulttest.From(n, faulttest.Fail) },
			"killed":      func(n int) faulttest.Script { return faulttest.From(n, faulttest.Break) },
			"lost":        func(n int) faulttest.Script { return faulttest.From(n, faulttest.Lose) },
			"duplicated":  func(n int) faulttest.Script { return faulttest.At(n, faulttest.Duplicate) },
			"misled once": func(n int) faulttest.Script { return faulttest.At(n, faulttest.Mislead) },
		} {
			t.Run(name+", "+harm, func(t *testing.T) {
				n := 0
				for reached := true; reached; n++ {
					d := newDeployment(t)
					d.put("raw/x", test.text)
					first := d.network.Requests() + n
					d.network.Script = script(first)
					_, err := d.calm().Import(t.Context(), cloud.Log{Key: "raw/x"})
					reached = d.network.Requests() > first
					d.network.Script = faulttest.Never
					if final := err == nil || fault.KindOf(err) == fault.Invalid; final && len(d.names("quarantine/")) == 0 {
						t.Fatalf("request %d: %v, and no note", n, err)
					}
					if _, err := d.calm().Import(t.Context(), cloud.Log{Key: "raw/x"}); (fault.KindOf(err) == fault.Invalid) != test.refused || !test.refused && err != nil {
						t.Fatalf("request %d: again: %v", n, err)
					}
					if kept := d.names("quarantine/"); len(kept) != 1 || kept[0] != test.note || !strings.Contains(d.text(test.note), test.says) {
						t.Fatalf("request %d: quarantine has %v", n, kept)
					}
					if left := d.names("lake/"); len(left) > 0 {
						t.Fatalf("request %d: the lake has %v", n, left)
					}
				}
				if n < 3 {
					t.Errorf("only %d requests", n)
				}
			})
		}
	}
}

// TestTimeMayRunOutAnywhere ends the context at every request.
func TestTimeMayRunOutAnywhere(t *testing.T) {
	n := 1
	for reached := true; reached; n += stride() {
		d := newDeployment(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		d.ctx = ctx
		d.network.Before = func(i int, r *http.Request) {
			if i == n+3 { // three put the logs there
				cancel(context.DeadlineExceeded)
			}
		}
		reached = d.disturb(n, func(int) faulttest.Script { return faulttest.Never })
		cancel(nil)
		d.check(fmt.Sprintf("time ran out at request %d", n))
	}
	if n < 50 {
		t.Errorf("only %d requests", n)
	}
}

// TestARestlessNetwork lets many requests fail in all ways, and does every work until it succeeds.
func TestARestlessNetwork(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			d := newDeployment(t)
			d.prepare()
			d.network.Script = faulttest.Sometimes(seed, 0.3, faulttest.Throttle, faulttest.Fail, faulttest.Break, faulttest.Lose, faulttest.Mislead, faulttest.Duplicate, faulttest.Cut)
			for _, work := range d.works() {
				for tries := 0; ; tries++ {
					err := work()
					if err == nil {
						break
					}
					if tries == 100 || fault.KindOf(err) == fault.Invalid {
						t.Fatalf("after %d tries: %v", tries, err)
					}
				}
			}
			d.check(fmt.Sprintf("seed %d", seed))
		})
	}
}

// sweep lets a compaction remove what failed attempts have left. It takes place far in the future, as the servers of
// tests date objects by the clock of the machine.
func (d *deployment) sweep() {
	config := d.config()
	config.Now = func() time.Time { return time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC) }
	if _, err := d.cloudOf(config).Compact(d.t.Context(), testTime); err != nil {
		d.t.Fatal(err)
	}
}
