// Package runstest is the test suite for implementations of runs.Store.
package runstest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/runs"
)

// At is the time at which the first run of the suite was due.
var At = time.Date(2026, 1, 2, 7, 0, 0, 0, time.UTC)

// New returns a run that was due n days after At.
func New(report string, n int) runs.Run {
	due := At.AddDate(0, 0, n)
	from, to := due.Add(-31*time.Hour), due.Add(-7*time.Hour)
	return runs.Run{
		ID: runs.IDOf("prod", report, 1, from, to), Config: "prod", Report: report, Version: 1, From: from, To: to,
		Due: due, State: runs.Queued, Branches: []string{"shop"},
		Deliveries: []runs.Delivery{{Destination: definition.Destination{To: "archive"}, State: runs.Waiting}},
	}
}

// Run runs the suite. open returns an empty store.
func Run(t *testing.T, open func(t *testing.T) runs.Store) {
	t.Run("a run is read back", func(t *testing.T) { readBack(t, open(t)) })
	t.Run("a run is created once", func(t *testing.T) { createdOnce(t, open(t)) })
	t.Run("an update needs the revision", func(t *testing.T) { updateNeedsRevision(t, open(t)) })
	t.Run("runs are listed by report, newest first", func(t *testing.T) { listed(t, open(t)) })
	t.Run("the latest run is a scheduled one", func(t *testing.T) { latest(t, open(t)) })
	t.Run("files stay until the run ends", func(t *testing.T) { files(t, open(t)) })
	t.Run("the report stays when the run ends", func(t *testing.T) { reportStays(t, open(t)) })
	t.Run("the reports of the newest runs are kept", func(t *testing.T) { newestReports(t, open(t)) })
	t.Run("one of several writers succeeds", func(t *testing.T) { oneWins(t, open(t)) })
	t.Run("old runs are removed", func(t *testing.T) { trimmed(t, open(t)) })
}

func create(t *testing.T, s runs.Store, list ...runs.Run) {
	t.Helper()
	for _, r := range list {
		if err := s.Create(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
}

func readBack(t *testing.T, s runs.Store) {
	r := New("weekly", 0)
	r.Queued = r.Due.Add(time.Hour)
	create(t, s, r)
	got, err := s.Run(t.Context(), r.ID)
	if diff := cmp.Diff(r, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := s.Run(t.Context(), "none"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("%v", err)
	}
}

func createdOnce(t *testing.T, s runs.Store) {
	r := New("weekly", 0)
	create(t, s, r)
	again := r
	again.State = runs.Failed
	if err := s.Create(t.Context(), again); fault.KindOf(err) != fault.Conflict {
		t.Errorf("%v", err)
	}
	if got, err := s.Run(t.Context(), r.ID); err != nil || got.State != runs.Queued {
		t.Errorf("%s %v", got.State, err)
	}
}

func updateNeedsRevision(t *testing.T, s runs.Store) {
	r := New("weekly", 0)
	create(t, s, r)
	r.State = runs.Running
	if err := s.Update(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	got, err := s.Run(t.Context(), r.ID)
	if err != nil || got.State != runs.Running || got.Revision != r.Revision+1 {
		t.Errorf("%+v %v", got, err)
	}
	r.State = runs.Failed
	if err := s.Update(t.Context(), r); fault.KindOf(err) != fault.Conflict {
		t.Errorf("an old revision: %v", err)
	}
	if err := s.Update(t.Context(), New("other", 0)); fault.KindOf(err) != fault.Conflict {
		t.Errorf("a run that does not exist: %v", err)
	}
}

func listed(t *testing.T, s runs.Store) {
	first, second, third, other := New("weekly", 0), New("weekly", 1), New("weekly", 2), New("other", 0)
	third.State = runs.Missed
	create(t, s, second, first, third, other)
	list, err := s.List(t.Context(), "prod", "weekly", 2)
	if diff := cmp.Diff([]runs.Run{third, second}, list); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if list, err := s.List(t.Context(), "other", "weekly", 2); len(list) > 0 || err != nil {
		t.Errorf("another configuration: %v %v", list, err)
	}
	unfinished, err := s.Unfinished(t.Context())
	if err != nil || len(unfinished) != 3 || unfinished[2].ID != second.ID {
		t.Errorf("%v %v", unfinished, err)
	}
}

func latest(t *testing.T, s runs.Store) {
	if at, err := s.Latest(t.Context(), "prod", "weekly"); !at.IsZero() || err != nil {
		t.Errorf("without runs: %v %v", at, err)
	}
	requested := New("weekly", 2)
	requested.By = "console"
	create(t, s, New("weekly", 0), New("weekly", 1), requested, New("other", 5))
	if at, err := s.Latest(t.Context(), "prod", "weekly"); !at.Equal(At.AddDate(0, 0, 1)) || err != nil {
		t.Errorf("%v %v", at, err)
	}
	requested.By = "" // its schedule took it over
	if err := s.Update(t.Context(), requested); err != nil {
		t.Fatal(err)
	}
	if at, err := s.Latest(t.Context(), "prod", "weekly"); !at.Equal(At.AddDate(0, 0, 2)) || err != nil {
		t.Errorf("after a requested run is scheduled: %v %v", at, err)
	}
	requested.By, requested.Due, requested.Revision = "console", At.AddDate(0, 0, 9), requested.Revision+1
	if err := s.Update(t.Context(), requested); err != nil {
		t.Fatal(err)
	}
	if at, err := s.Latest(t.Context(), "prod", "weekly"); !at.Equal(At.AddDate(0, 0, 2)) || err != nil {
		t.Errorf("after a scheduled run is requested again: %v %v", at, err)
	}
}

func files(t *testing.T, s runs.Store) {
	r := New("weekly", 0)
	create(t, s, r)
	want := []runs.File{
		{Name: "a.html", Content: []byte("<p>")}, {Name: "b.csv", Content: []byte("1,2")},
		{Delivery: 1, Name: "mail", Content: []byte("From: x")},
	}
	r.State = runs.Rendered
	if err := s.Update(t.Context(), r, want[2], want[1], want[0]); err != nil {
		t.Fatal(err)
	}
	got, err := s.Files(t.Context(), r.ID)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if err := s.Update(t.Context(), r, runs.File{Name: "late"}); fault.KindOf(err) != fault.Conflict {
		t.Fatal(err)
	}
	r.Revision++
	r.State = runs.Queued // it is to be made again
	if err := s.Update(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Files(t.Context(), r.ID); len(got) > 0 || err != nil {
		t.Errorf("after it is queued again: %v %v", got, err)
	}
	r.Revision++
	r.State = runs.Rendered
	if err := s.Update(t.Context(), r, want[0]); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Files(t.Context(), r.ID); len(got) != 1 || err != nil {
		t.Errorf("after it is made again: %v %v", got, err)
	}
	r.Revision++
	r.State = runs.Delivered
	if err := s.Update(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Files(t.Context(), r.ID); len(got) > 0 || err != nil {
		t.Errorf("after the end: %v %v", got, err)
	}
}

// kept returns the file that keeps a text as a report.
func kept(t *testing.T, text string) runs.File {
	t.Helper()
	f, ok := runs.Keep([]byte(text))
	if !ok {
		t.Fatalf("%d bytes are too large", len(f.Content))
	}
	return f
}

// wantReport compares the report of a run with a text; "": it has none.
func wantReport(t *testing.T, s runs.Store, r runs.Run, want string) {
	t.Helper()
	content, err := s.Report(t.Context(), r.ID)
	if want == "" {
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("%s has a report: %v", r.Due, err)
		}
		return
	}
	if err != nil {
		t.Errorf("%s: %v", r.Due, err)
		return
	}
	if got, err := runs.Unpacked(content); string(got) != want || err != nil {
		t.Errorf("%s: %q %v", r.Due, got, err)
	}
}

func reportStays(t *testing.T, s runs.Store) {
	r := New("weekly", 0)
	create(t, s, r)
	wantReport(t, s, r, "")
	for _, step := range []struct {
		state runs.State
		files []runs.File
		want  string
		left  int // files that are to be delivered
	}{
		{runs.Rendered, []runs.File{kept(t, "first"), {Name: "a.html", Content: []byte("<p>")}}, "first", 1},
		{runs.Failed, nil, "first", 0},
		{runs.Queued, nil, "first", 0},
		{runs.Rendered, []runs.File{{Name: "a.html", Content: []byte("<p>")}, kept(t, "second")}, "second", 1},
		{runs.Delivered, nil, "second", 0},
		{runs.Kept, []runs.File{kept(t, "third"), {Name: "late", Content: []byte("x")}}, "third", 0},
	} {
		r.State, r.HasReport = step.state, true
		if err := s.Update(t.Context(), r, step.files...); err != nil {
			t.Fatal(err)
		}
		r.Revision++
		wantReport(t, s, r, step.want)
		if got, err := s.Files(t.Context(), r.ID); len(got) != step.left || err != nil {
			t.Errorf("%s: %d files, %v", step.state, len(got), err)
		}
	}
	if err := s.Update(t.Context(), New("weekly", 0), kept(t, "late")); fault.KindOf(err) != fault.Conflict {
		t.Errorf("%v", err)
	}
	wantReport(t, s, r, "third")
}

func newestReports(t *testing.T, s runs.Store) {
	var list []runs.Run
	for i := range runs.KeptReports + 3 {
		r := New("weekly", i)
		create(t, s, r)
		if r.State = runs.Kept; i == 5 {
			r.State = runs.Quiet // it has none
		} else {
			r.HasReport = true
		}
		var files []runs.File
		if r.HasReport {
			files = append(files, kept(t, "report"))
		}
		if err := s.Update(t.Context(), r, files...); err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	other := New("other", 0)
	create(t, s, other)
	other.State, other.HasReport = runs.Kept, true
	if err := s.Update(t.Context(), other, kept(t, "other")); err != nil {
		t.Fatal(err)
	}
	if trimmer, ok := s.(runs.Trimmer); ok {
		if err := trimmer.Trim(t.Context(), 500, time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	listed, err := s.List(t.Context(), "prod", "weekly", 200)
	if err != nil {
		t.Fatal(err)
	}
	readable := map[string]bool{}
	for i, can := range runs.Readable(listed) {
		readable[listed[i].ID] = can
	}
	for i, r := range list {
		want := ""
		if i > 1 && i != 5 {
			want = "report"
		}
		wantReport(t, s, r, want)
		if readable[r.ID] != (want != "") {
			t.Errorf("run %d is readable: %t", i, readable[r.ID])
		}
	}
	wantReport(t, s, other, "other")
}

func oneWins(t *testing.T, s runs.Store) {
	r := New("weekly", 0)
	create(t, s, r)
	var won atomic.Int32
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			mine := r
			mine.Reason = fmt.Sprint("writer ", i)
			switch err := s.Update(t.Context(), mine); {
			case err == nil:
				won.Add(1)
			case fault.KindOf(err) != fault.Conflict:
				t.Error(err)
			}
		})
	}
	group.Wait()
	if won.Load() != 1 {
		t.Errorf("%d writers succeeded", won.Load())
	}
}

// trimmed applies to stores that remove old runs when they are asked to.
func trimmed(t *testing.T, s runs.Store) {
	trimmer, ok := s.(runs.Trimmer)
	if !ok {
		t.Skip("the store removes old runs by itself")
	}
	var list []runs.Run
	for i := range 6 {
		r := New("weekly", i)
		if r.State = runs.Delivered; i == 1 {
			r.State = runs.Queued
		}
		if i > 2 {
			r.By = "console"
		}
		list = append(list, r)
	}
	old, other := New("weekly", -1), New("other", -1)
	old.State, other.State = runs.Failed, runs.Missed
	create(t, s, append(list, old, other)...)
	left := func() (places []int) {
		t.Helper()
		got, err := s.List(t.Context(), "prod", "weekly", 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range got {
			places = append(places, int(r.Due.Sub(At)/(24*time.Hour)))
		}
		return places
	}
	if err := trimmer.Trim(t.Context(), 6, At); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{5, 4, 3, 2, 1, 0}, left()); diff != "" {
		t.Errorf("runs before a time are not removed (-want +got):\n%s", diff)
	}
	if err := trimmer.Trim(t.Context(), 1, At); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{5, 2, 1}, left()); diff != "" {
		t.Errorf("the newest, the latest scheduled and the unfinished runs stay (-want +got):\n%s", diff)
	}
	if list, err := s.List(t.Context(), "prod", "other", 10); len(list) != 1 || err != nil {
		t.Errorf("the latest scheduled run of another report is removed: %v", err)
	}
}
