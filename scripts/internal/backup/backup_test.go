package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir"
	"github.com/orrery/orrery/shared/keys"
)

// options are the options of the tests.
func options() Options { return Options{Program: "test", Now: time.Now} }

// onProduct opens a data folder for some work.
func onProduct(t testing.TB, data string, work func(*local.Product)) {
	t.Helper()
	product, err := local.Open(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	work(product)
	if err := product.Close(); err != nil {
		t.Fatal(err)
	}
}

// records returns n records, one a minute from an hour on.
func records(host string, hour, n int) string {
	var b strings.Builder
	at := time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC)
	for i := range n {
		fmt.Fprintf(&b, `{"processing_stage":6,"timestamp":%q,"host":%q,"path":"/%d","ip":"192.0.2.%d","status":200}`+"\n",
			at.Add(time.Duration(i)*time.Minute).Format(time.RFC3339), host, i, i%250)
	}
	return b.String()
}

func importLog(t testing.TB, store *datadir.Store, name, text string) {
	t.Helper()
	if _, err := store.Import(t.Context(), name, strings.NewReader(text), ingest.Options{Format: "orrery"}); err != nil {
		t.Fatal(err)
	}
}

func compact(t testing.TB, store *datadir.Store) {
	t.Helper()
	if _, err := store.Compact(t.Context(), datadir.CompactOptions{Grace: 1}); err != nil {
		t.Fatal(err)
	}
}

func send(t testing.TB, product *local.Product, method, path, body string) (int, string) {
	t.Helper()
	handler, err := product.Handler(local.ServeOptions{Log: slog.New(slog.DiscardHandler), Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), method, "http://localhost/api/v4.0"+path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
		if strings.Contains(path, "/lists/") {
			r.Header.Set("Content-Type", "text/plain")
		}
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// filled makes a data folder with everything that a backup holds.
func filled(t testing.TB) (data string) {
	t.Helper()
	data = filepath.Join(t.TempDir(), "data")
	onProduct(t, data, func(p *local.Product) {
		importLog(t, p.Store, "a.log", records("a.example", 8, 200)+"no record\n")
		importLog(t, p.Store, "b.log", records("b.example", 9, 200))
		compact(t, p.Store)
		importLog(t, p.Store, "c.log", records("c.example", 9, 100))
		const planet = `{"name":"changed","trusted_nets":[],"ichallenge":{"attrs":{},"lang":{},"palette":[],"position":{}}}`
		for path, body := range map[string]string{
			"/conf/prod/planets/__default__": planet,
			"/conf/prod/filters/mine":        `{"filters":"status=404"}`,
			"/conf/prod/lists/tor":           "192.0.2.0/28",
		} {
			if code, answer := send(t, p, http.MethodPut, path, body); code >= 300 {
				t.Fatalf("PUT %s: %d %s", path, code, answer)
			}
		}
	})
	k, err := local.OpenKeys(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	_, issued, err := keys.Issue(t.Context(), k, keys.Grant{Name: "mine", Scopes: []keys.Scope{keys.DataRead}}, time.Now())
	if err := errors.Join(err, k.Close()); err != nil {
		t.Fatal(issued, err)
	}
	settings := filepath.Join(data, local.Settings)
	if err := os.WriteFile(settings, []byte("keep = \"0d\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return data
}

// varying are the parts of answers that differ each time.
var varying = regexp.MustCompile(`"(elapsed_ms|engine_ms|wait_ms|complete_through|next|cursor|since)":` +
	`("[^"]*"|[0-9.]+|null|\{[^}]*\})`)

// answers asks the same questions of a data folder.
func answers(t testing.TB, data string) map[string]string {
	t.Helper()
	found := map[string]string{}
	onProduct(t, data, func(p *local.Product) {
		ask := func(path string) {
			code, body := send(t, p, http.MethodGet, path, "")
			if code != http.StatusOK {
				t.Errorf("%s: %d %s", path, code, body)
			}
			found[path] = varying.ReplaceAllString(body, "")
		}
		day := url.QueryEscape("timestamp between 2026-01-01 and 2026-01-02")
		ask("/data/logs?limit=2500&filters=" + day)
		ask("/data/topx?filters=" + day)
		ask("/data/timeline?segment=1h&filters=" + day)
		ask("/data/stats?segment=1h&filters=" + day + url.QueryEscape(", ip in @tor"))
		ask("/conf/prod/planets")
		ask("/conf/prod/planets/__default__/versions")
		ask("/conf/prod/filters")
		ask("/conf/prod/lists/tor")
		rejected, err := p.Store.Quarantine(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		found["quarantine"] = fmt.Sprint(len(rejected))
		imports, err := p.Store.Imports(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		found["imports"] = fmt.Sprintf("%+v", imports)
		known, err := local.OpenKeys(t.Context(), data)
		if err != nil {
			t.Fatal(err)
		}
		list, err := known.List(t.Context())
		if err := errors.Join(err, known.Close()); err != nil {
			t.Fatal(err)
		}
		found["keys"] = fmt.Sprint(list)
		settings, err := os.ReadFile(filepath.Join(data, local.Settings))
		if err != nil {
			t.Fatal(err)
		}
		found["settings"] = string(settings)
	})
	return found
}

func restore(t testing.TB, from string) (data string) {
	t.Helper()
	data = filepath.Join(t.TempDir(), "restored")
	if err := restoreInto(t.Context(), from, data, options()); err != nil {
		t.Fatal(err)
	}
	return data
}

func restoreInto(ctx context.Context, from, data string, o Options) error {
	source, err := From(from)
	if err == nil {
		_, err = Restore(ctx, source, data, o)
	}
	return err
}

func toFolder(t testing.TB, data, to string) Report {
	t.Helper()
	r, err := ToFolder(t.Context(), data, to, options())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRestoredDataAnswersEqual: each kind of backup has everything, and restored folders can be changed like others.
func TestRestoredDataAnswersEqual(t *testing.T) {
	data := filled(t)
	want := answers(t, data)
	folder, file := filepath.Join(t.TempDir(), "backup"), filepath.Join(t.TempDir(), "backup.tar")
	var stream bytes.Buffer
	inFolder := toFolder(t, data, folder)
	inFile, err := ToFile(t.Context(), data, file, options())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ToStream(t.Context(), data, &stream, options()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(inFolder, inFile); diff != "" || inFolder.Records != 500 || inFolder.Copied != inFolder.Objects {
		t.Errorf("%+v\n%s", inFolder, diff)
	}
	streamed := filepath.Join(t.TempDir(), "streamed")
	if _, err := Restore(t.Context(), FromStream(&stream), streamed, options()); err != nil {
		t.Fatal(err)
	}
	for name, restored := range map[string]string{
		"folder": restore(t, folder), "file": restore(t, file), "stream": streamed,
	} {
		if diff := cmp.Diff(want, answers(t, restored)); diff != "" {
			t.Errorf("%s: restored data answers differently (-before +after):\n%s", name, diff)
		}
		onProduct(t, restored, func(p *local.Product) {
			importLog(t, p.Store, "b.log", records("b.example", 9, 210)) // 200 are known
			compact(t, p.Store)
			if extent, err := p.Store.Index().Extent(t.Context()); err != nil || extent.Rows != 510 {
				t.Errorf("%s: %+v, %v", name, extent, err)
			}
		})
		err := filepath.WalkDir(restored, func(path string, e os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := e.Info()
			if err == nil && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("others may read %s", path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestNextBackupCopiesWhatIsNew: and removes what is no more.
func TestNextBackupCopiesWhatIsNew(t *testing.T) {
	data, to := filled(t), filepath.Join(t.TempDir(), "backup")
	first := toFolder(t, data, to)
	if r := toFolder(t, data, to); r.Copied != 0 || r.Bytes != 0 || r.Objects != first.Objects {
		t.Errorf("the same data: %+v", r)
	}
	onProduct(t, data, func(p *local.Product) { importLog(t, p.Store, "d.log", records("d.example", 20, 10)) })
	if r := toFolder(t, data, to); r.Copied != 1 || r.Objects != first.Objects+1 || r.Records != 510 {
		t.Errorf("one more object: %+v", r)
	}
	onProduct(t, data, func(p *local.Product) { compact(t, p.Store) })
	r := toFolder(t, data, to)
	if r.Copied == 0 || r.Removed < 2 || r.Records != 510 {
		t.Errorf("after a compaction: %+v", r)
	}
	if diff := cmp.Diff(answers(t, data), answers(t, restore(t, to))); diff != "" {
		t.Errorf("restored data answers differently:\n%s", diff)
	}
	restored := restore(t, to)
	if r := toFolder(t, restored, to); r.Copied != 0 {
		t.Errorf("of the restored folder: %+v", r)
	}
	m, err := verified(t, to)
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	err = filepath.WalkDir(to, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			files++
		}
		return err
	})
	if err != nil || files != len(m.Files)+2 { // the manifest and the lock
		t.Errorf("%d files for a manifest of %d, %v", files, len(m.Files), err)
	}
}

func verified(t testing.TB, path string) (Manifest, error) {
	t.Helper()
	source, err := From(path)
	if err != nil {
		t.Fatal(err)
	}
	return Verify(t.Context(), source, options())
}

// TestBackupWhileServing: each backup that is taken while logs are imported, compacted and forgotten has whole imports,
// and no object is missing.
func TestBackupWhileServing(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	onProduct(t, data, func(p *local.Product) {
		importLog(t, p.Store, "first.log", records("a.example", 8, 60))
		ctx, stop := context.WithCancel(t.Context())
		var busy sync.WaitGroup
		busy.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				name := fmt.Sprintf("log%d", i)
				text := strings.NewReader(records(name, 8+i%3, 100)) // two hours
				if _, err := p.Store.Import(t.Context(), name, text, ingest.Options{Format: "orrery"}); err != nil {
					t.Error(err)
				}
				if _, err := p.Store.Compact(t.Context(), datadir.CompactOptions{Grace: 1}); err != nil {
					t.Error(err)
				}
			}
		})
		to, file := filepath.Join(t.TempDir(), "backup"), filepath.Join(t.TempDir(), "backup.tar")
		for i := range 5 {
			r := toFolder(t, data, to)
			in, err := ToFile(t.Context(), data, file, options())
			if err != nil || len(r.Missing)+len(in.Missing) > 0 {
				t.Fatal(r, in, err)
			}
			for _, path := range []string{to, file} {
				onProduct(t, restore(t, path), func(restored *local.Product) {
					code, body := send(t, restored, http.MethodGet, "/data/stats?segment=1d&filters="+
						url.QueryEscape("timestamp between 2026-01-01 and 2026-01-02"), "")
					imports, err := restored.Store.Imports(t.Context())
					if err != nil || code != http.StatusOK || strings.Contains(body, `"skipped":[{`) {
						t.Fatal(code, body, err)
					}
					want := fmt.Sprintf(`"num_of_requests":%d,`, 60+100*(len(imports)-1))
					if !strings.Contains(body, want) {
						t.Errorf("round %d: want %s in %s", i, want, body)
					}
				})
			}
		}
		stop()
		busy.Wait()
	})
}

// TestObjectsAreKeptDuringABackup: a compaction removes no file that a backup is about to copy, and does so afterwards.
func TestObjectsAreKeptDuringABackup(t *testing.T) {
	data := filled(t)
	onProduct(t, data, func(p *local.Product) {
		var old string
		during := options()
		during.onStep = func(step string) {
			if step != "after the snapshot" {
				return
			}
			objects, err := p.Store.Index().Objects(t.Context(), 0, 1<<40)
			if err != nil {
				t.Fatal(err)
			}
			old = objects[len(objects)-1].Path
			importLog(t, p.Store, "later.log", records("later.example", 12, 10))
			compact(t, p.Store)
			compact(t, p.Store)
			if _, err := ToFolder(t.Context(), data, t.TempDir(), options()); fault.KindOf(err) != fault.Conflict {
				t.Errorf("another backup meanwhile: %v", err)
			}
		}
		r, err := ToFolder(t.Context(), data, filepath.Join(t.TempDir(), "backup"), during)
		if err != nil || len(r.Missing) > 0 || r.Records != 500 {
			t.Fatal(r, err)
		}
		compact(t, p.Store)
		if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", old, err)
		}
	})
}

// TestMissingObject: a backup names an object whose file is missing, unless it has it from before.
func TestMissingObject(t *testing.T) {
	data, to := filled(t), filepath.Join(t.TempDir(), "backup")
	before := answers(t, data)
	toFolder(t, data, to)
	lost := filepath.Join(data, "lake", "fresh")
	if err := os.RemoveAll(lost); err != nil {
		t.Fatal(err)
	}
	if r := toFolder(t, data, to); len(r.Missing) > 0 || r.Copied > 0 {
		t.Errorf("the earlier backup has the object: %+v", r)
	}
	if diff := cmp.Diff(before, answers(t, restore(t, to))); diff != "" {
		t.Errorf("restored data answers differently:\n%s", diff)
	}
	r := toFolder(t, data, filepath.Join(t.TempDir(), "new"))
	if len(r.Missing) == 0 || !strings.HasPrefix(r.Missing[0], "fresh/") {
		t.Errorf("a new backup: %+v", r)
	}
}

func TestRefusals(t *testing.T) {
	data, to := filled(t), filepath.Join(t.TempDir(), "backup")
	toFolder(t, data, to)
	other := filepath.Join(t.TempDir(), "other")
	onProduct(t, other, func(p *local.Product) { importLog(t, p.Store, "x.log", records("x.example", 8, 5)) })
	older := restore(t, to)
	onProduct(t, data, func(p *local.Product) { importLog(t, p.Store, "new.log", records("x.example", 8, 5)) })
	toFolder(t, data, to)
	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "backup.tar")
	if _, err := ToFile(t.Context(), data, file, options()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut.tar")
	if err := os.WriteFile(cut, whole[:len(whole)*2/3], 0o600); err != nil {
		t.Fatal(err)
	}
	backingUp := func(data, to string) error {
		_, err := ToFolder(t.Context(), data, to, options())
		return err
	}
	empty := filepath.Join(t.TempDir(), "empty")
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"the backup of another folder":  {backingUp(other, to), "is of another data folder"},
		"an older state":                {backingUp(older, to), "has imports that this one lacks"},
		"in the data folder":            {backingUp(data, filepath.Join(data, "backup")), "is in the data folder"},
		"the data folder itself":        {backingUp(data, data), "is in the data folder"},
		"other things":                  {backingUp(data, foreign), "holds other things than a backup, such as notes.txt"},
		"another data folder":           {backingUp(data, other), "holds other things than a backup"},
		"into a folder with data":       {restoreInto(t.Context(), to, other, options()), "is not empty"},
		"no backup":                     {restoreInto(t.Context(), foreign, empty, options()), "backup.json is missing"},
		"a file that is cut off":        {restoreInto(t.Context(), cut, empty, options()), "is cut off"},
		"a file that is something else": {restoreInto(t.Context(), filepath.Join(foreign, "notes.txt"), empty, options()), "no backup"},
	} {
		if test.err == nil || !strings.Contains(test.err.Error(), test.want) {
			t.Errorf("%s: %v", name, test.err)
		}
	}
	if _, err := os.Stat(empty); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a refused restore has left %s: %v", empty, err)
	}
}

// TestDamagedBackup: each kind of damage is named, and nothing of such a backup is restored.
func TestDamagedBackup(t *testing.T) {
	data, to := filled(t), filepath.Join(t.TempDir(), "backup")
	toFolder(t, data, to)
	m, err := verified(t, to)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(m.Files, func(f File) bool { return strings.HasSuffix(f.Path, ".parquet") })
	object := filepath.Join(to, filepath.FromSlash(m.Files[at].place()))
	content, err := os.ReadFile(object)
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 1
	if err := os.WriteFile(object, content, 0o600); err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	check := func(want string) {
		t.Helper()
		_, verifying := verified(t, to)
		for _, err := range []error{verifying, restoreInto(t.Context(), to, empty, options())} {
			if err == nil || !strings.Contains(err.Error(), m.Files[at].Path+want) {
				t.Errorf("%v", err)
			}
		}
		if entries, err := os.ReadDir(empty); err != nil || len(entries) > 0 {
			t.Errorf("a refused restore has left %v, %v", entries, err)
		}
	}
	check(" is damaged")
	if err := os.Remove(object); err != nil {
		t.Fatal(err)
	}
	check(" is missing")
}

// TestRestoreKeepsSettings: the settings and logs of the user stay, as in the folder that a package makes.
func TestRestoreKeepsSettings(t *testing.T) {
	data, to := filled(t), filepath.Join(t.TempDir(), "backup.tar")
	if _, err := ToFile(t.Context(), data, to, options()); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	elsewhere := filepath.Join(t.TempDir(), "etc.toml")
	if err := os.WriteFile(elsewhere, []byte("keep = \"90d\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := errors.Join(os.Symlink(elsewhere, filepath.Join(folder, local.Settings)),
		os.Mkdir(filepath.Join(folder, "raw"), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	cut := t.TempDir()
	for _, from := range []string{cut, to} {
		err := restoreInto(t.Context(), from, folder, options())
		if (err == nil) != (from == to) {
			t.Fatal(err)
		}
		if target, err := os.Readlink(filepath.Join(folder, local.Settings)); err != nil || target != elsewhere {
			t.Errorf("the settings are %s, %v", target, err)
		}
	}
	got, want := answers(t, folder), answers(t, data)
	if got["settings"] != "keep = \"90d\"\n" {
		t.Errorf("settings: %s", got["settings"])
	}
	delete(got, "settings")
	delete(want, "settings")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("restored data answers differently:\n%s", diff)
	}
	entries, err := os.ReadDir(folder)
	if err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), ".") }) {
		t.Errorf("left: %v, %v", entries, err)
	}
}

// TestInterrupted: at every step, an interrupt ends the work, the backup before stays, and a restore leaves nothing.
func TestInterrupted(t *testing.T) {
	data, to := filled(t), filepath.Join(t.TempDir(), "backup")
	toFolder(t, data, to)
	onProduct(t, data, func(p *local.Product) { importLog(t, p.Store, "d.log", records("d.example", 20, 10)) })
	parent := t.TempDir()
	restored, file := filepath.Join(parent, "restored"), filepath.Join(parent, "backup.tar")
	for name, work := range map[string]func(context.Context, Options) error{
		"folder": func(ctx context.Context, o Options) error { _, err := ToFolder(ctx, data, to, o); return err },
		"file":   func(ctx context.Context, o Options) error { _, err := ToFile(ctx, data, file, o); return err },
		"restore": func(ctx context.Context, o Options) error {
			return restoreInto(ctx, to, restored, o)
		},
	} {
		for _, at := range []int{1, 3, 5} {
			ctx, interrupt := context.WithCancel(t.Context())
			steps, o := 0, options()
			o.onStep = func(string) {
				if steps++; steps == at {
					interrupt()
				}
			}
			if err := work(ctx, o); !errors.Is(err, context.Canceled) {
				t.Errorf("%s at step %d: %v", name, at, err)
			}
		}
	}
	if m, err := verified(t, to); err != nil || m.Records != 500 {
		t.Errorf("the backup before has %d records, %v", m.Records, err)
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
