package runs_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/blob/blobtest"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/report/runs"
	"github.com/orrery/orrery/shared/report/runs/runstest"
	"github.com/orrery/orrery/shared/table/tabletest"
	"github.com/orrery/orrery/shared/testkit/faulttest"
)

// TestStore uses a network with faults: for example, a request whose response was lost is repeated, and has no second effect.
func TestStore(t *testing.T) {
	runstest.Run(t, func(*testing.T) runs.Store {
		script := func(n int, _ *http.Request) faulttest.Fault {
			if n%4 != 0 {
				return faulttest.None
			}
			return tabletest.Survivable[n/4%len(tabletest.Survivable)]
		}
		return runs.Over(tabletest.Behind(&tabletest.Memory{}, script), &blobtest.Memory{})
	})
}

// TestItems: the runs of deployments are read, and written as they were.
func TestItems(t *testing.T) {
	const items = "testdata/items.json"
	memory, bucket := &tabletest.Memory{}, &blobtest.Memory{}
	s := runs.Over(memory, bucket)
	queued, rendered := runstest.New("weekly", 0), runstest.New("weekly", 1)
	delivered, requested := runstest.New("weekly", 2), runstest.New("weekly", 3)
	queued.Queued = queued.Due.Add(time.Hour)
	requested.By = "console"
	for _, r := range []runs.Run{queued, rendered, delivered, requested} {
		if err := s.Create(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	rendered.State, rendered.Verdict = runs.Rendered, "calm"
	delivered.State, delivered.Ended = runs.Delivered, runstest.At.AddDate(0, 0, 3)
	requested.By, requested.Due = "", requested.Due.Add(time.Hour)
	files := []runs.File{{Name: "a.html", Content: []byte("<p>")}, {Name: "b.csv", Content: []byte("1,2")}}
	err := errors.Join(
		s.Update(t.Context(), rendered, files...), s.Update(t.Context(), delivered), s.Update(t.Context(), requested),
	)
	if err != nil {
		t.Fatal(err)
	}
	tabletest.Equal(t, memory, items)
	for _, r := range []*runs.Run{&rendered, &delivered, &requested} {
		r.Revision++
	}
	s = runs.Over(tabletest.Load(t, items), bucket)
	list, err := s.List(t.Context(), "prod", "weekly", 9)
	if diff := cmp.Diff([]runs.Run{requested, delivered, rendered, queued}, list); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	unfinished, err := s.Unfinished(t.Context())
	if diff := cmp.Diff([]runs.Run{queued, rendered, requested}, unfinished); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	read, err := s.Files(t.Context(), rendered.ID)
	if diff := cmp.Diff(files, read); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
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
	memory, bucket := &tabletest.Memory{}, &blobtest.Memory{}
	second := runs.Over(memory, bucket)
	r := runstest.New("weekly", 0)
	if err := second.Create(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	r.State = runs.Rendered
	// The second writer writes all of its own between the files and the run of the first.
	first := runs.Over(memory, meanwhile{bucket, func() {
		if err := second.Update(t.Context(), r, runs.File{Name: "a.html", Content: []byte("second")}); err != nil {
			t.Error(err)
		}
	}})
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
	if left := objects(t, bucket); len(left) != 1 || !strings.HasPrefix(left[0], runs.Folder+r.ID+"/1-") {
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
	bucket := &blobtest.Memory{}
	s := runs.Over(&tabletest.Memory{}, bucket)
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

// TestLatestBehindManyRequestedRuns: the latest scheduled run is found after any number of later runs that were requested.
func TestLatestBehindManyRequestedRuns(t *testing.T) {
	s := runs.Over(&tabletest.Memory{}, nil)
	for n := range 30 {
		r := runstest.New("weekly", n)
		if n > 0 {
			r.By = "console"
		}
		if err := s.Create(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if at, err := s.Latest(t.Context(), "prod", "weekly"); err != nil || !at.Equal(runstest.At) {
		t.Errorf("the latest scheduled run was due at %v, %v", at, err)
	}
}
