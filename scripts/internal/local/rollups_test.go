package local_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir"
	"github.com/orrery/orrery/shared/rollup"
	"github.com/orrery/orrery/shared/rollup/rollupfile"
)

// TestRollUp: days are rolled up after compaction. Answers are the same before and after, and after
// records were forgotten no rollup has them.
func TestRollUp(t *testing.T) {
	folder := t.TempDir()
	product := openProduct(t, folder)
	lines := func(host string, times ...string) string {
		var text strings.Builder
		for _, at := range times {
			text.WriteString(`{"timestamp":"` + at + `","ip":"192.0.2.1","method":"GET","path":"/","host":"` + host + `","branch":"` + host + `","status":200}` + "\n")
		}
		return text.String()
	}
	importLines := func(name, text string) {
		t.Helper()
		if _, err := product.Store.Import(t.Context(), name, strings.NewReader(text), ingest.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	rollUp := func() local.RollUpReport {
		t.Helper()
		if _, err := product.Store.Compact(t.Context(), datadir.CompactOptions{}); err != nil {
			t.Fatal(err)
		}
		report, err := product.RollUp(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	files := func() string {
		t.Helper()
		entries, err := os.ReadDir(filepath.Join(folder, "rollups"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			subsets, _ := os.ReadDir(filepath.Join(folder, "rollups", e.Name()))
			if names = append(names, e.Name()); e.IsDir() {
				names = append(names, fmt.Sprintf("(%d)", len(subsets)))
			}
		}
		return strings.Join(names, " ")
	}
	const period = "timestamp between 2026-01-01 and 2026-01-04"
	// answers returns the results and the numbers of objects read and reused, for each kind of question.
	answers := func() (results string, read, reused string) {
		t.Helper()
		for _, of := range []struct{ route, parameters string }{
			{"stats", "&segment=86400"}, {"timeline", "&segment=86400"}, {"topx", ""}, {"facets", ""},
		} {
			w := askedData(t, product, of.route, period, of.parameters)
			data, _, _ := bytes.Cut(w.Body.Bytes(), []byte(`,"meta":`))
			m := metaOf(t, w.Body.Bytes())
			results += string(data)
			read, reused = read+" "+string(m["objects"]), reused+" "+string(m["objects_reused"])
		}
		return results, read, reused
	}

	importLines("a", lines("a.example", "2026-01-01T10:00:00Z", "2026-01-01T10:30:00Z", "2026-01-02T10:00:00Z", "2026-01-03T10:00:00Z"))
	importLines("b", lines("b.example", "2026-01-01T10:15:00Z", "2026-01-02T10:15:00Z"))
	before, _, _ := answers()
	if report := rollUp(); report != (local.RollUpReport{Days: 2, Records: 5}) || files() != "2026-01-01 (11) 2026-01-01.rollup 2026-01-02 (11) 2026-01-02.rollup hash-key" {
		t.Errorf("%+v: %s", report, files())
	}
	if report := rollUp(); report != (local.RollUpReport{}) {
		t.Errorf("a second time: %+v", report)
	}
	product.Forget()
	after, read, reused := answers()
	if after != before || read != " 1 1 1 1" || reused != " 2 2 2 2" {
		t.Errorf("read%s objects, reused%s\nbefore: %s\nafter:  %s", read, reused, before, after)
	}

	// An earlier version counted no signals.
	folderOfRollups := rollupfile.Folder(filepath.Join(folder, "rollups"))
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	content, err := os.ReadFile(folderOfRollups.Path(start, rollup.Subset{}))
	if err != nil {
		t.Fatal(err)
	}
	day, err := rollup.Read(bytes.NewReader(content), start)
	if err == nil {
		err = folderOfRollups.Write(day, rollup.Lists{})
	}
	if err != nil {
		t.Fatal(err)
	}
	if report := rollUp(); report != (local.RollUpReport{Days: 1, Records: 3}) {
		t.Errorf("after a rollup without counts: %+v", report)
	}
	product.Forget()

	// A rollup of a branch is missing.
	branch := rollup.Subset{Field: "branch", Value: "b.example"}
	if err := os.Remove(folderOfRollups.Path(start, branch)); err != nil {
		t.Fatal(err)
	}
	if report := rollUp(); report != (local.RollUpReport{Days: 1, Records: 3}) {
		t.Errorf("without the rollup of a branch: %+v", report)
	}
	if _, err := os.Stat(folderOfRollups.Path(start, branch)); err != nil {
		t.Error(err)
	}

	importLines("late", lines("c.example", "2026-01-02T11:00:00Z"))
	product.Forget()
	if late, read, _ := answers(); late == before || read != " 2 3 2 2" {
		t.Errorf("after a late record%s objects were read: %s", read, late)
	}
	if report := rollUp(); report != (local.RollUpReport{Days: 1, Records: 3}) {
		t.Errorf("after a late record: %+v", report)
	}

	imports, err := product.Store.Imports(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range imports {
		if i.Name != "a" {
			if _, err := product.Store.Forget(t.Context(), i.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := product.RenewRollups(t.Context()); err != nil {
		t.Error(err)
	}
	if report := rollUp(); report != (local.RollUpReport{}) {
		t.Errorf("after records were forgotten and the rollups renewed: %+v", report)
	}
	if last, _, _ := answers(); strings.Contains(last, "b.example") || strings.Contains(last, "c.example") {
		t.Errorf("forgotten records: %s", last)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := os.RemoveAll(filepath.Join(folder, "rollups")); err != nil {
		t.Fatal(err)
	}
	if err := product.RenewRollups(t.Context()); err != nil || files() != "" {
		t.Errorf("without rollups: %s, %v", files(), err)
	}
	if _, err := product.RollUp(stopped, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if report := rollUp(); report.Days != 2 {
		t.Errorf("after an interruption: %+v", report)
	}
}

// TestRollUpNewest: all hours of the newest day but the last two are rolled up. It is rolled up again when the records
// that its rollup lacks have become half as many as the others, and when it is no longer the newest day.
func TestRollUpNewest(t *testing.T) {
	product := openProduct(t, t.TempDir())
	imported := 0
	for _, step := range []struct {
		hours    string // of the records that arrive
		rolledUp int64  // records
		left     string // objects that stats read then
	}{
		{"10 11", 0, "2"},
		{"12", 1, "2"},
		{"12", 0, "3"},
		{"13", 2, "3"},
		{"14 15 16 17", 7, "2"},
		{"03 18 18", 0, "5"}, // it lacks 3 and 16
		{"19", 0, "6"},       // it lacks 17, too
		{"20", 12, "2"},
		{"25", 14, "1"},
		{"29", 1, "1"},
	} {
		for _, hour := range strings.Fields(step.hours) {
			n, err := strconv.Atoi(hour)
			if err != nil {
				t.Fatal(err)
			}
			at := time.Date(2026, 1, 1, n, 30, 0, 0, time.UTC).Format(time.RFC3339)
			line := `{"timestamp":"` + at + `","ip":"192.0.2.1","path":"/","host":"a.example","status":200}` + "\n"
			imported++
			if _, err := product.Store.Import(t.Context(), strconv.Itoa(imported), strings.NewReader(line), ingest.Options{}); err != nil {
				t.Fatal(err)
			}
		}
		report, err := product.RollUp(t.Context(), nil)
		if err != nil || report.Records != step.rolledUp {
			t.Errorf("after %s: %+v, %v, want %d records", step.hours, report, err, step.rolledUp)
		}
		product.Forget()
		w := askedData(t, product, "stats", "timestamp between 2026-01-01 and 2026-01-03", "&segment=86400")
		if left := string(metaOf(t, w.Body.Bytes())["objects"]); left != step.left {
			t.Errorf("after %s: %s objects were read, want %s", step.hours, left, step.left)
		}
	}
}

// TestRollUpWeeks: each week but the one of the oldest record is rolled up a day after its end. After records were
// forgotten, no rollup of the week is used that has them, and late records are read.
func TestRollUpWeeks(t *testing.T) {
	folder := t.TempDir()
	product := openProduct(t, folder)
	weeks := rollupfile.Folder(filepath.Join(folder, "rollups")).Weeks()
	importDays := func(name string, days ...string) {
		t.Helper()
		var text strings.Builder
		for _, day := range days {
			text.WriteString(`{"timestamp":"` + day + `T10:00:00Z","ip":"192.0.2.1","path":"/","host":"` + name + `","branch":"main","status":200}` + "\n")
		}
		if _, err := product.Store.Import(t.Context(), name, strings.NewReader(text.String()), ingest.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	rollUp := func(want local.RollUpReport) {
		t.Helper()
		if report, err := product.RollUp(t.Context(), nil); report != want || err != nil {
			t.Errorf("%+v, %v, want %+v", report, err, want)
		}
		product.Forget()
	}
	are := func(want ...string) {
		t.Helper()
		starts, err := weeks.Days()
		var names []string
		for _, start := range starts {
			names = append(names, time.Unix(start, 0).UTC().Format(time.DateOnly))
		}
		if !slices.Equal(names, want) || err != nil {
			t.Errorf("weeks %q, %v, want %q", names, err, want)
		}
	}
	// hosts returns the hosts of facets, and the number of objects read.
	hosts := func() string {
		t.Helper()
		w := askedData(t, product, "facets", "timestamp between 2026-01-05 and 2026-01-18 23:59:59.999", "&by=host")
		data, _, _ := bytes.Cut(w.Body.Bytes(), []byte(`,"meta":`))
		var found string
		for _, host := range []string{"a.example", "b.example", "late.example"} {
			if bytes.Contains(data, []byte(host)) {
				found += host + " "
			}
		}
		return found + string(metaOf(t, w.Body.Bytes())["objects"])
	}
	expect := func(want string) {
		t.Helper()
		if got := hosts(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}

	importDays("a.example", "2026-01-01", "2026-01-05", "2026-01-09", "2026-01-11", "2026-01-12", "2026-01-18")
	rollUp(local.RollUpReport{Days: 5, Weeks: 1, Records: 5})
	are("2026-01-05")
	importDays("b.example", "2026-01-06", "2026-01-19", "2026-01-20")
	expect("a.example b.example 2")
	rollUp(local.RollUpReport{Days: 3, Weeks: 2, Records: 3})
	are("2026-01-05", "2026-01-12")
	expect("a.example b.example 0")
	rollUp(local.RollUpReport{})

	importDays("late.example", "2026-01-10")
	expect("a.example b.example late.example 1")
	rollUp(local.RollUpReport{Days: 1, Weeks: 1, Records: 1})
	expect("a.example b.example late.example 0")

	imports, err := product.Store.Imports(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range imports {
		if i.Name == "late.example" {
			if _, err := product.Store.Forget(t.Context(), i.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := product.RenewRollups(t.Context()); err != nil {
		t.Fatal(err)
	}
	are("2026-01-12")
	product.Forget()
	expect("a.example b.example 0")
	rollUp(local.RollUpReport{Weeks: 1})
	are("2026-01-05", "2026-01-12")
	expect("a.example b.example 0")

	// A week with a few late records stays as it is. They are read, until there are more.
	importDays("a.example", slices.Repeat([]string{"2026-01-07"}, 300)...)
	rollUp(local.RollUpReport{Days: 1, Weeks: 1, Records: 300})
	importDays("late.example", "2026-01-07")
	rollUp(local.RollUpReport{Days: 1, Records: 301})
	expect("a.example b.example late.example 1")
	importDays("b.example", "2026-01-08", "2026-01-09", "2026-01-10")
	rollUp(local.RollUpReport{Days: 3, Weeks: 1, Records: 4})
	expect("a.example b.example late.example 0")
}
