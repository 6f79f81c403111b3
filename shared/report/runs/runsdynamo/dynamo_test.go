package runsdynamo

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/blob/blobtest"
	"github.com/orrery/orrery/shared/dynamotable"
	"github.com/orrery/orrery/shared/dynamotable/dynamotest"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/report/runs"
	"github.com/orrery/orrery/shared/report/runs/runstest"
	"github.com/orrery/orrery/shared/testkit/faulttest"
)

// over returns a store that does not wait between repetitions.
func over(client *dynamodb.Client, table string, files blob.Store) *Store {
	s := New(client, table, files)
	s.Pause = func(ctx context.Context, _ int) error { return ctx.Err() }
	return s
}

func TestStore(t *testing.T) {
	runstest.Run(t, func(t *testing.T) runs.Store {
		client, table := dynamotest.Client(t)
		return over(client, table, &blobtest.Memory{})
	})
}

// TestStoreOverFaultyNetwork: for example, a request whose response was lost is repeated, and has no second effect.
func TestStoreOverFaultyNetwork(t *testing.T) {
	runstest.Run(t, func(t *testing.T) runs.Store {
		faults := []faulttest.Fault{faulttest.Lose, faulttest.FailLate, faulttest.Throttle, faulttest.Break}
		script := func(n int, _ *http.Request) faulttest.Fault {
			if n%4 != 0 {
				return faulttest.None
			}
			return faults[n/4%len(faults)]
		}
		client, table := dynamotest.Client(t, func(o *dynamodb.Options) {
			o.HTTPClient = &http.Client{Transport: &faulttest.Transport{Script: script}}
		})
		return over(client, table, &blobtest.Memory{})
	})
}

// objects returns the names of the objects of a bucket.
func objects(t *testing.T, bucket blob.Store) []string {
	t.Helper()
	var list []string
	for info, err := range bucket.List(t.Context(), "", "") {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, info.Name)
	}
	return list
}

// TestFilesOfRacingWriters: the run has the files of the writer that succeeds, and its end removes them.
func TestFilesOfRacingWriters(t *testing.T) {
	client, table := dynamotest.Client(t)
	bucket := &blobtest.Memory{}
	first := over(client, table, bucket)
	r := runstest.New("weekly", 0)
	if err := first.Create(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	r.State = runs.Rendered
	// The second writer writes all of its own between the files and the transaction of the first.
	second := over(client, table, bucket)
	first.files = meanwhile{bucket, func() {
		if err := second.Update(t.Context(), r, runs.File{Name: "a.html", Content: []byte("second")}); err != nil {
			t.Error(err)
		}
	}}
	err := first.Update(t.Context(), r, runs.File{Name: "a.html", Content: []byte("first")})
	if fault.KindOf(err) != fault.Conflict {
		t.Errorf("%v", err)
	}
	got, err := second.Files(t.Context(), r.ID)
	if err != nil || len(got) != 1 || string(got[0].Content) != "second" {
		t.Errorf("%v %v", got, err)
	}
	r.Revision++
	r.State = runs.Delivered
	if err := second.Update(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if left := objects(t, bucket); len(left) != 1 || !strings.HasPrefix(left[0], Folder+r.ID+"/1-") {
		t.Errorf("the bucket has %v; only the file of the first writer is left", left)
	}
}

// meanwhile is a bucket that calls a function after each write.
type meanwhile struct {
	*blobtest.Memory
	do func()
}

func (m meanwhile) Put(ctx context.Context, name string, body io.ReadSeeker, when blob.Condition) error {
	err := m.Memory.Put(ctx, name, body, when)
	m.do()
	return err
}

// TestDamagedFileIsAnError: a report is not delivered with other contents than those that were made.
func TestDamagedFileIsAnError(t *testing.T) {
	client, table := dynamotest.Client(t)
	bucket := &blobtest.Memory{}
	s := over(client, table, bucket)
	r := runstest.New("weekly", 0)
	r.State = runs.Rendered
	err := errors.Join(s.Create(t.Context(), r), s.Update(t.Context(), r, runs.File{Name: "a", Content: []byte("x")}))
	if err != nil {
		t.Fatal(err)
	}
	name := objects(t, bucket)[0]
	if err := bucket.Put(t.Context(), name, strings.NewReader("y"), blob.Always); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Files(t.Context(), r.ID); !errors.Is(err, runs.ErrLost) || !strings.Contains(err.Error(), "sum") {
		t.Errorf("another content: %v", err)
	}
	if err := bucket.Delete(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Files(t.Context(), r.ID); !errors.Is(err, runs.ErrLost) || !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("no content: %v", err)
	}
}

// TestListHasSeveralPages: DynamoDB returns at most a megabyte at once.
func TestListHasSeveralPages(t *testing.T) {
	client, table := dynamotest.Client(t)
	s := over(client, table, nil)
	for n := range 12 {
		r := runstest.New("weekly", n)
		r.Reason = strings.Repeat("x", 100_000)
		r.By = "console"
		if n == 0 {
			r.By = ""
		}
		if err := s.Create(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	list, err := s.List(t.Context(), "prod", "weekly", 200)
	if err != nil || len(list) != 12 || list[11].By != "" {
		t.Errorf("%d runs, %v", len(list), err)
	}
	if list, err := s.Unfinished(t.Context()); err != nil || len(list) != 12 {
		t.Errorf("%d unfinished runs, %v", len(list), err)
	}
	if at, err := s.Latest(t.Context(), "prod", "weekly"); err != nil || !at.Equal(runstest.At) {
		t.Errorf("the latest scheduled run was due at %v, %v", at, err)
	}
}

// TestItems pins the keys and attributes of items, because deployments have stored such items.
func TestItems(t *testing.T) {
	r := runstest.New("weekly", 0)
	e := entry{Run: r, dueMs: r.Due.UnixMilli(), scheduled: true, files: []file{{1, "a.html", "5a0d", 3}}}
	all, err := e.items()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		of     written
		pk, sk string
	}{
		{all.run, "run#" + r.ID, "run"},
		{all.listed, "runs#prod#weekly", "0001767337200000#" + r.ID},
		{all.unfinished, "unfinished", "0001767337200000#" + r.ID},
	} {
		t.Run(test.pk, func(t *testing.T) {
			read := dynamotable.Read(test.of.item)
			if pk, sk := read.String("pk"), read.String("sk"); pk != test.pk || sk != test.sk {
				t.Errorf("key %s %s", pk, sk)
			}
			if got := strings.Join(slices.Sorted(maps.Keys(test.of.item)), ","); got != "due_ms,files,pk,revision,run,scheduled,sk" {
				t.Errorf("attributes %s", got)
			}
			if got := read.String("files"); got != `[{"delivery":1,"name":"a.html","sum":"5a0d","revision":3}]` {
				t.Errorf("files %s", got)
			}
			if back, err := entryOf(test.of.item); err != nil || back.ID != r.ID || back.files[0] != e.files[0] || !back.scheduled {
				t.Errorf("%+v %v", back, err)
			}
		})
	}
	e.State, e.Ended = runs.Delivered, runstest.At
	if all, err = e.items(); err != nil {
		t.Fatal(err)
	}
	for _, of := range []written{all.run, all.listed} {
		if expires := dynamotable.Read(of.item).Int64("expires"); expires != runstest.At.AddDate(0, 0, 400).Unix() {
			t.Errorf("a run that has ended expires at %d", expires)
		}
	}
	if got := e.files[0].object(r.ID); got != "_reports/"+r.ID+"/3-5a0d" {
		t.Errorf("object %s", got)
	}
}
