package local

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/api/importing"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/gen"
	"github.com/orrery/orrery/shared/gzipped"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir"
)

func newImporter(t *testing.T) importer {
	t.Helper()
	product, err := Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := product.Close(); err != nil {
			t.Error(err)
		}
	})
	return importer{product, freeBytes, make(chan struct{}, 1)}
}

// lines returns lines of an access log, each at a second of its own.
func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "203.0.113.7 - - [01/Jan/2026:10:%02d:%02d +0000] \"GET /%d HTTP/1.1\" 200 512 \"-\" \"curl/8.5.0\"\n",
			i/60, i%60, i)
	}
	return b.String()
}

func logOf(name, text string) importing.Log {
	return importing.Log{Name: name, Body: strings.NewReader(text), Size: int64(len(text))}
}

func rows(t *testing.T, i importer) int64 {
	t.Helper()
	extent, err := i.Engine.Extent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return extent.Rows
}

// TestImportOverHTTP: a sample, the import, the same log again, its undoing, and another import.
func TestImportOverHTTP(t *testing.T) {
	i := newImporter(t)
	log := logOf("access.log", lines(20)+"no record\n")
	log.Set = []importing.Setting{{Field: "host", Value: "www.example.com"}}
	s, err := i.Sample(t.Context(), log)
	if err != nil || s.Format != "combined" || s.Guessed || !strings.Contains(string(s.First), `"host":"www.example.com"`) ||
		s.From == nil || s.Problem == "" {
		t.Errorf("%+v, %s, %v", s, s.First, err)
	}
	if n := rows(t, i); n != 0 {
		t.Errorf("the sample has imported %d records", n)
	}
	log.Body = strings.NewReader(lines(20) + "no record\n")
	done, err := i.Import(t.Context(), log)
	if err != nil || len(done) != 1 || done[0].Records != 20 || done[0].Rejected["bad_line"] != 1 || done[0].From == nil {
		t.Fatalf("%+v, %v", done, err)
	}
	log.Body = strings.NewReader(lines(20) + "no record\n")
	again, err := i.Import(t.Context(), log)
	if err != nil || len(again) != 1 || again[0].Records != 0 || again[0].Known != 21 {
		t.Errorf("%+v, %v", again, err)
	}
	list, err := i.Imports(t.Context(), 10)
	if err != nil || len(list) != 1 || list[0].ID != *done[0].ID || list[0].Records != 20 {
		t.Errorf("%+v, %v", list, err)
	}
	forgotten, err := i.Forget(t.Context(), *done[0].ID)
	if err != nil || forgotten.Records != 20 || rows(t, i) != 0 {
		t.Errorf("%+v, %v", forgotten, err)
	}
	if _, err := i.Forget(t.Context(), *done[0].ID); fault.KindOf(err) != fault.NotFound {
		t.Errorf("forgotten again: %v", err)
	}
	log.Body = strings.NewReader(lines(20) + "no record\n")
	if _, err := i.Import(t.Context(), log); err != nil || rows(t, i) != 20 {
		t.Errorf("imported anew: %v", err)
	}
}

// TestImportIsRefused: what cannot be imported is refused with its reason, and without the flags of the command.
func TestImportIsRefused(t *testing.T) {
	whole := gzipped.Of([]byte(lines(2000)))
	half := string(whole[:len(whole)/2])
	i := newImporter(t)
	if _, err := i.Import(t.Context(), logOf("first.log", lines(40))); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		log  importing.Log
		kind fault.Kind
		says string
	}{
		"nothing":           {logOf("a", ""), fault.Invalid, ""},
		"a text":            {logOf("a", "# Notes\nabout nothing\n"), fault.Invalid, `The first line is "# Notes"`},
		"a log of a copy":   {logOf("copy.log", lines(40)), fault.Internal, "in the data already"},
		"an unknown format": {withFormat("apache9"), fault.Invalid, `unknown format "apache9"`},
		"an unknown field":  {withSet("hots", "a"), fault.Invalid, `did you mean "host"?`},
		"an empty archive":  {logOf("a.zip", "PK\x05\x06"+strings.Repeat("\x00", 18)), fault.Invalid, "no log in the archive"},
		"a cut off file":    {logOf("a.gz", half), fault.Invalid, "cut off"},
	} {
		t.Run(name, func(t *testing.T) {
			results, err := i.Import(t.Context(), test.log)
			if test.says == "" {
				if err != nil || len(results) != 1 || results[0].ID != nil {
					t.Errorf("%+v, %v", results, err)
				}
				return
			}
			if err == nil || fault.KindOf(err) != test.kind || !strings.Contains(err.Error(), test.says) ||
				strings.Contains(err.Error(), "--format") || strings.Contains(err.Error(), "--anyway") {
				t.Errorf("%+v, %v; want %q", results, err, test.says)
			}
			if n := rows(t, i); n != 40 {
				t.Errorf("there are %d records", n)
			}
		})
	}
}

func withFormat(format string) importing.Log {
	log := logOf("a", lines(2))
	log.Format = format
	return log
}

func withSet(field, value string) importing.Log {
	log := logOf("a", lines(2))
	log.Set = []importing.Setting{{Field: field, Value: value}}
	return log
}

// TestImportOfObjects: a sample of objects of no known format says what fits them, and the import takes that.
func TestImportOfObjects(t *testing.T) {
	i := newImporter(t)
	text := `{"time":"2026-01-01T10:00:00Z","client":"203.0.113.7","url":"/a","code":200}` + "\n" +
		`{"time":"2026-01-01T10:00:01Z","client":"203.0.113.8","url":"/b","code":404}` + "\n"
	s, err := i.Sample(t.Context(), logOf("j.json", text))
	if err != nil || !s.Guessed || s.Shown != "mapped JSON" || !strings.Contains(string(s.First), `"status":200`) {
		t.Fatalf("%+v, %s, %v", s, s.First, err)
	}
	log := logOf("j.json", text)
	log.Format = s.Format
	if done, err := i.Import(t.Context(), log); err != nil || len(done) != 1 || done[0].Records != 2 {
		t.Errorf("%+v, %v", done, err)
	}
}

// TestImportOfArchive: each log of a zip archive has a result; the temporary file is removed.
func TestImportOfArchive(t *testing.T) {
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for name, text := range map[string]string{"logs/a.log": lines(10), "README": "no log\nat all\n"} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	i := newImporter(t)
	if s, err := i.Sample(t.Context(), logOf("a.zip", archive.String())); err == nil && s.Log != "a.zip/logs/a.log" {
		t.Errorf("%+v", s)
	}
	done, err := i.Import(t.Context(), logOf("a.zip", archive.String()))
	if err != nil || len(done) != 2 {
		t.Fatalf("%+v, %v", done, err)
	}
	for _, one := range done {
		if ok := one.Log == "a.zip/logs/a.log"; ok != (one.Error == "") || ok != (one.Records == 10) {
			t.Errorf("%+v", one)
		}
	}
	if left, err := os.ReadDir(i.spill.Path); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestImportNeedsSpace: a log larger than half of the free disk is refused before it is read.
func TestImportNeedsSpace(t *testing.T) {
	i := newImporter(t)
	i.free = func(string) (int64, error) { return 1000, nil }
	log := logOf("a.log", lines(10))
	log.Size = 501
	if _, err := i.Import(t.Context(), log); fault.KindOf(err) != fault.TooLarge {
		t.Errorf("%v", err)
	}
	if log.Size = 500; rows(t, i) != 0 {
		t.Error("it was imported")
	}
	if _, err := i.Import(t.Context(), log); err != nil {
		t.Errorf("half of the disk: %v", err)
	}
}

// TestImportsOneAtATime: a log that comes during the import of another one is refused for the moment.
func TestImportsOneAtATime(t *testing.T) {
	i := newImporter(t)
	in, out := io.Pipe()
	first := make(chan error)
	go func() {
		_, err := i.Import(t.Context(), importing.Log{Name: "a.log", Body: in, Size: 1000})
		first <- err
	}()
	if _, err := io.WriteString(out, lines(1)); err != nil { // the first import reads it
		t.Fatal(err)
	}
	if _, err := i.Import(t.Context(), logOf("b.log", lines(2))); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("%v", err)
	}
	if err := errors.Join(out.Close(), <-first); err != nil {
		t.Error(err)
	}
}

// TestDemoStaysUntilAnImport: a log that is refused or cut off leaves the demo; a log that is imported removes it.
func TestDemoStaysUntilAnImport(t *testing.T) {
	i := newImporter(t)
	err := i.MakeDemo(t.Context(), func(store *datadir.Store) error {
		_, err := store.Import(t.Context(), "demo", gen.New(gen.Options{Records: 100, Seed: 1}), ingest.Options{Format: "orrery"})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	is := func(want bool) {
		t.Helper()
		if got, err := i.isDemo(t.Context()); got != want || err != nil {
			t.Errorf("demo: %v, %v; want %v", got, err, want)
		}
	}
	if _, err := i.Import(t.Context(), logOf("a", "# Notes\nabout nothing\n")); err == nil {
		t.Error("a text is imported")
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := importing.Log{Name: "a.log", Body: io.MultiReader(strings.NewReader(lines(10)), reading(func() error {
		cancel()
		return io.ErrUnexpectedEOF
	})), Size: 1 << 20}
	if _, err := i.Import(ctx, ended); err == nil {
		t.Error("a log that is cut off is imported")
	}
	is(true)
	if _, err := i.Import(t.Context(), logOf("a.log", lines(10))); err != nil {
		t.Fatal(err)
	}
	is(false)
	if _, err := os.Stat(filepath.Join(i.folder, "demo")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the demo is still there: %v", err)
	}
}

// reading is a reader that always fails.
type reading func() error

func (r reading) Read([]byte) (int, error) { return 0, r() }
