package local_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir"
	"github.com/orrery/orrery/shared/keys"
)

// smallDisk mounts a disk of a few megabytes.
func smallDisk(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=4m")
	if errors.Is(err, syscall.EPERM) {
		t.Skip("only root may mount a disk")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return folder
}

// fillDisk takes all space of a disk. The returned function gives it back.
func fillDisk(t *testing.T, disk string) (free func()) {
	t.Helper()
	f, err := os.Create(filepath.Join(disk, "ballast"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(f, io.LimitReader(zeros{}, 1<<30))
	if closing := f.Close(); closing != nil || !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	return func() {
		if err := os.Remove(f.Name()); err != nil {
			t.Fatal(err)
		}
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// importThree makes a data folder with three records.
func importThree(t *testing.T, folder string) {
	t.Helper()
	product, err := local.Open(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	record := `{"processing_stage":6,"timestamp":"2026-01-01T10:00:00Z","host":"a.example","status":200}` + "\n"
	importLog(t, product, "a.log", strings.Repeat(record, 3))
	if err := product.Close(); err != nil {
		t.Fatal(err)
	}
}

// questions are paths of which the answers of importThree's records contain a text.
var questions = map[string]string{
	"logs":  `"host":"a.example"`,
	"topx":  `"num_of_requests":3`,
	"stats": `"num_of_requests":3`,
}

// answersAll asks every question, also one that DuckDB answers.
func answersAll(t *testing.T, product *local.Product) {
	t.Helper()
	for route, want := range questions {
		for _, filters := range []string{
			testDay, testDay + `, not ip="192.0.2.1", headers["x"]!="y"`,
		} {
			w := askedData(t, product, route, filters, "")
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s of %s: %d %s", route, filters, w.Code, w.Body)
			}
		}
	}
	w := asked(t, product, http.MethodGet, "/status", "")
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"records":3`) {
		t.Errorf("status: %d %s", w.Code, w.Body)
	}
}

// TestNewProcessOnAFullDisk: a process that starts when the disk is full answers questions. What it cannot open or
// write is refused in these words, and works as soon as there is space.
func TestNewProcessOnAFullDisk(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, folder string){
		"of a folder that was written": importThree,
		"of a folder with a half of the databases": func(t *testing.T, folder string) {
			importThree(t, folder)
			for _, name := range []string{"documents.db", "reports.db", "spill"} {
				if err := os.RemoveAll(filepath.Join(folder, name)); err != nil {
					t.Fatal(err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			disk := smallDisk(t)
			folder := filepath.Join(disk, "data")
			prepare(t, folder)
			waiting := filepath.Join(folder, "raw", "c.log")
			err := os.MkdirAll(filepath.Dir(waiting), 0o700)
			if err == nil {
				err = os.WriteFile(waiting, []byte(`{"processing_stage":6,"timestamp":"2026-01-01T11:00:00Z"}`+"\n"), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			free := fillDisk(t, disk)
			product := openProduct(t, folder)
			answersAll(t, product)
			watcher, err := datadir.NewWatcher(product.Store, ingest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			now, watched := time.Now(), int64(0)
			poll := func() error {
				now = now.Add(datadir.SettleTime)
				return watcher.Poll(t.Context(), now, func(r datadir.FileResult) { watched += r.Report.Records })
			}
			if err := poll(); fault.KindOf(err) != fault.Full {
				t.Errorf("watching: %v", err)
			}
			_, err = product.Store.Import(t.Context(), "b.log", strings.NewReader("{}\n"), ingest.Options{})
			if fault.KindOf(err) != fault.Full {
				t.Errorf("import: %v", err)
			}
			const filter = "/conf/prod/filters/errors"
			for _, one := range []struct{ method, path, body string }{
				{http.MethodGet, "/conf/prod/planets", ""},
				{http.MethodPut, filter, `{"filters":"status>=500"}`},
				{http.MethodGet, filter, ""},
			} {
				w := asked(t, product, one.method, one.path, one.body)
				if w.Code != http.StatusInsufficientStorage || !strings.Contains(w.Body.String(), "disk is full") {
					t.Errorf("%s %s: %d %s", one.method, one.path, w.Code, w.Body)
				}
			}
			known := local.OpenTestKeys(t, folder)
			list, err := known.List(t.Context())
			if err != nil || len(list) > 0 {
				t.Errorf("%d keys, %v", len(list), err)
			}
			grant := keys.Grant{Name: "n", Scopes: []keys.Scope{keys.DataRead}}
			if _, _, err := keys.Issue(t.Context(), known, grant, time.Now()); err == nil {
				t.Error("a key was created on a full disk")
			}

			free()
			if err := errors.Join(poll(), poll()); err != nil || watched != 1 {
				t.Errorf("watching imported %d records with space, %v", watched, err)
			}
			for _, one := range []struct{ method, path, body string }{
				{http.MethodPut, filter, `{"filters":"status>=500"}`},
				{http.MethodGet, "/conf/prod/planets", ""},
			} {
				if w := asked(t, product, one.method, one.path, one.body); w.Code/100 != 2 {
					t.Errorf("%s %s with space: %d %s", one.method, one.path, w.Code, w.Body)
				}
			}
			other := local.OpenTestKeys(t, folder)
			if _, _, err := keys.Issue(t.Context(), other, grant, time.Now()); err != nil {
				t.Fatal(err)
			}
			if list, err := known.List(t.Context()); err != nil || len(list) != 1 {
				t.Errorf("the server that began without keys sees %d, %v", len(list), err)
			}
		})
	}
}

// TestDiskFillsWhileServing: a server goes on answering questions when its disk becomes full, and refuses writes in
// these words. Revoking a key is either done or refused in them.
func TestDiskFillsWhileServing(t *testing.T) {
	disk := smallDisk(t)
	folder := filepath.Join(disk, "data")
	importThree(t, folder)
	product := openProduct(t, folder)
	known := local.OpenTestKeys(t, folder)
	_, key, err := keys.Issue(t.Context(), known, keys.Grant{Name: "n", Scopes: []keys.Scope{keys.DataRead}}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	handler, err := product.Handler(local.ServeOptions{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	send := func(method, path, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, "http://localhost/api/v4.0"+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w
	}
	const filter = "/conf/prod/filters/errors"
	if w := send(http.MethodPut, filter, `{"filters":"status>=500"}`); w.Code/100 != 2 {
		t.Fatalf("before the disk is full: %d %s", w.Code, w.Body)
	}
	free := fillDisk(t, disk)
	for route, want := range questions {
		w := send(http.MethodGet, "/data/"+route+"?filters="+url.QueryEscape(testDay), "")
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s", route, w.Code, w.Body)
		}
	}
	if w := send(http.MethodGet, filter, ""); w.Code != http.StatusOK {
		t.Errorf("a saved filter: %d %s", w.Code, w.Body)
	}
	large := `{"filters":"host=\"` + strings.Repeat("x", 40_000) + `\""}`
	refused := 0
	for n := range 100 { // some may fit into what a database has reserved
		w := send(http.MethodPut, fmt.Sprintf("/conf/prod/filters/large-%d", n), large)
		if w.Code/100 == 2 {
			continue
		}
		refused++
		if w.Code != http.StatusInsufficientStorage || !strings.Contains(w.Body.String(), "disk is full") {
			t.Fatalf("a write: %d %s", w.Code, w.Body)
		}
	}
	if refused == 0 {
		t.Error("no write was refused")
	}
	const record = `{"processing_stage":6,"timestamp":"2026-01-01T10:00:00Z"}` + "\n"
	_, err = product.Store.Import(t.Context(), "b.log", strings.NewReader(record), ingest.Options{})
	if !fault.IsFull(err) {
		t.Errorf("an import: %v", err)
	}
	checkRevoked(t, known, key)
	free()
	if w := send(http.MethodPut, "/conf/prod/filters/large", large); w.Code/100 != 2 {
		t.Errorf("with space: %d %s", w.Code, w.Body)
	}
}

// checkRevoked revokes a key on a full disk: it is revoked, or the error says that the disk is full.
func checkRevoked(t *testing.T, store keys.Store, key keys.Key) {
	t.Helper()
	revoking := store.Revoke(t.Context(), key.ID, time.Now())
	found, err := store.Find(t.Context(), key.ID)
	if err != nil {
		t.Fatal(err)
	}
	revoked := !found.Revoked.IsZero()
	if revoked != (revoking == nil) || !revoked && fault.KindOf(revoking) != fault.Full {
		t.Errorf("revoked %t, %v", revoked, revoking)
	}
}

// TestRevokingOnAFullDisk: it is either done or refused in these words.
func TestRevokingOnAFullDisk(t *testing.T) {
	disk := smallDisk(t)
	folder := filepath.Join(disk, "data")
	grant := keys.Grant{Name: "n", Scopes: []keys.Scope{keys.DataRead}}
	_, key, err := keys.Issue(t.Context(), local.OpenTestKeys(t, folder), grant, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	fillDisk(t, disk)
	checkRevoked(t, local.OpenTestKeys(t, folder), key)
}

// TestKeysOfEarlierReleasesOnAFullDisk: they are known although their rows cannot be moved.
func TestKeysOfEarlierReleasesOnAFullDisk(t *testing.T) {
	folder := filepath.Join(smallDisk(t), "data")
	file, err := os.ReadFile("../../../shared/table/tablesqlite/testdata/keys.db")
	if err == nil {
		err = os.Mkdir(folder, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "keys.db"), file, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	free := fillDisk(t, filepath.Dir(folder))
	known := local.OpenTestKeys(t, folder)
	list, err := known.List(t.Context())
	if err != nil || len(list) != 3 {
		t.Fatalf("%d keys, %v", len(list), err)
	}
	if err := known.Revoke(t.Context(), list[1].ID, time.Now()); fault.KindOf(err) != fault.Full {
		t.Errorf("revoking: %v", err)
	}
	free()
	if err := known.Revoke(t.Context(), list[1].ID, time.Now()); err != nil {
		t.Errorf("revoking with space: %v", err)
	}
}

// TestNewProcessOnAReadOnlyDisk: a process reads everything on a file system that is mounted read-only. It refuses
// writes in these words, until the file system can be written.
func TestNewProcessOnAReadOnlyDisk(t *testing.T) {
	disk := smallDisk(t)
	folder, onlyKeys := filepath.Join(disk, "data"), filepath.Join(disk, "keys")
	importThree(t, folder)
	settings := "[destination.archive]\nfolder = \"" + t.TempDir() + "\"\n"
	if err := os.WriteFile(filepath.Join(folder, "orrery.toml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	writer, err := local.Open(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	const filter, report = "/conf/prod/filters/errors", "/conf/prod/reports/daily"
	for path, body := range map[string]string{
		filter: `{"filters":"status>=500"}`, report: `{"period":"day","deliver":[{"to":"archive"}]}`,
	} {
		if w := asked(t, writer, http.MethodPut, path, body); w.Code/100 != 2 {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	known, err := local.OpenKeys(t.Context(), onlyKeys)
	if err := errors.Join(err, known.Close()); err != nil {
		t.Fatal(err)
	}
	remount := func(flags uintptr) {
		if err := syscall.Mount("", disk, "", syscall.MS_REMOUNT|flags, ""); err != nil {
			t.Fatal(err)
		}
	}
	remount(syscall.MS_RDONLY)
	product, without := openProduct(t, folder), openProduct(t, onlyKeys)
	answersAll(t, product)
	w := askedData(t, without, "logs", testDay, "")
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"results":[]`) {
		t.Errorf("a folder without records: %d %s", w.Code, w.Body)
	}
	const planets, runs = "/conf/prod/planets", report + "/runs"
	const refused, readOnly = http.StatusInsufficientStorage, "the data folder is read-only"
	for _, one := range []struct {
		product            *local.Product
		method, path, body string
		status             int
		want               string
	}{
		{product, http.MethodGet, planets, "", http.StatusOK, `"name"`},
		{product, http.MethodGet, filter, "", http.StatusOK, "status>=500"},
		{product, http.MethodGet, "/conf/prod/filters", "", http.StatusOK, "errors"},
		{product, http.MethodGet, report, "", http.StatusOK, `"period":"day"`},
		{product, http.MethodGet, runs, "", http.StatusOK, `"runs":[]`},
		{product, http.MethodGet, "/status", "", http.StatusOK, `"last_source":"a.log"`},
		{product, http.MethodPut, filter, `{"filters":"status>=400"}`, refused, readOnly},
		{product, http.MethodPut, "/conf/new/filters/a", `{"filters":"status>=400"}`, refused, readOnly},
		{
			product, http.MethodPost, report + "/run", `{"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z"}`,
			refused, readOnly,
		},
		{without, http.MethodGet, planets, "", http.StatusNotFound, "there is no planet"},
		{without, http.MethodGet, "/conf/prod/filters", "", http.StatusOK, `"filters":[]`},
		{without, http.MethodPut, filter, `{"filters":"status>=400"}`, refused, readOnly},
	} {
		w := asked(t, one.product, one.method, one.path, one.body)
		if w.Code != one.status || !strings.Contains(w.Body.String(), one.want) {
			t.Errorf("%s %s: %d %s, want %d %s", one.method, one.path, w.Code, w.Body, one.status, one.want)
		}
	}
	grant := keys.Grant{Name: "n", Scopes: []keys.Scope{keys.DataRead}}
	_, _, err = keys.Issue(t.Context(), local.OpenTestKeys(t, folder), grant, time.Now())
	if fault.KindOf(err) != fault.ReadOnly {
		t.Errorf("a key: %v", err)
	}
	remount(0)
	for _, p := range []*local.Product{product, without} {
		if w := asked(t, p, http.MethodPut, "/conf/prod/filters/later", `{"filters":"status>=400"}`); w.Code/100 != 2 {
			t.Errorf("a write when it is possible: %d %s", w.Code, w.Body)
		}
	}
	if w := asked(t, product, http.MethodGet, "/conf/prod/filters", ""); !strings.Contains(w.Body.String(), "errors") {
		t.Errorf("the filters when writing is possible: %s", w.Body)
	}
}

// TestOldHoursAreRemovedOnAFullDisk: the rollups of days that are too old make room for the removal of their hours.
func TestOldHoursAreRemovedOnAFullDisk(t *testing.T) {
	disk := smallDisk(t)
	folder := filepath.Join(disk, "data")
	product, err := local.Open(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	const days = 40
	// The oldest of 31 days is kept from its beginning on, or from an hour later, whatever time it is. Its records are of
	// noon.
	today := time.Now().UTC().Truncate(24 * time.Hour)
	keep := time.Since(today.AddDate(0, 0, -31)).Truncate(time.Hour)
	for day := range days {
		at := today.AddDate(0, 0, -1-day).Add(12 * time.Hour).Format(time.RFC3339)
		for range 20 {
			fmt.Fprintf(&text, `{"processing_stage":6,"timestamp":%q,"host":"a.example","status":200}`+"\n", at)
		}
	}
	importLog(t, product, "a.log", text.String())
	if _, err := product.RollUp(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if err := product.Close(); err != nil {
		t.Fatal(err)
	}
	fillDisk(t, disk)
	product = openProduct(t, folder)
	if _, err := product.Store.Expire(t.Context(), keep, true); fault.KindOf(err) != fault.Full {
		t.Fatalf("with all rollups: %v", err)
	}
	r, err := product.Expire(t.Context(), keep, true)
	if err != nil || r.Hours != days-31 {
		t.Errorf("removed %+v, %v", r, err)
	}
	extent, err := product.Store.Index().Extent(t.Context())
	if err != nil || extent.Rows != 31*20 {
		t.Errorf("%d records are left, %v", extent.Rows, err)
	}
	if report, err := product.RollUp(t.Context(), nil); err != nil || report != (local.RollUpReport{}) {
		t.Errorf("rollups after it: %+v, %v", report, err)
	}
}

// TestCompactOnAFullDisk: a compaction that cannot merge an hour still removes the files that nobody needs.
func TestCompactOnAFullDisk(t *testing.T) {
	disk := smallDisk(t)
	product := openProduct(t, filepath.Join(disk, "data"))
	importHour := func(name, hour string) {
		importLog(t, product, name,
			`{"processing_stage":6,"timestamp":"2026-01-01T`+hour+`:00:00Z","host":"`+name+`","status":200}`+"\n")
	}
	importHour("a.log", "10")
	importHour("b.log", "10")
	if _, err := product.Store.Compact(t.Context(), datadir.CompactOptions{}); err != nil {
		t.Fatal(err)
	}
	importHour("c.log", "09")
	importHour("d.log", "09")
	free := fillDisk(t, disk)
	report, err := product.Store.Compact(t.Context(), datadir.CompactOptions{Grace: 1})
	if fault.KindOf(err) != fault.Full && !fault.IsFull(err) || report.Hours != 0 || report.Removed != 2 {
		t.Errorf("on a full disk: %+v, %v", report, err)
	}
	free()
	report, err = product.Store.Compact(t.Context(), datadir.CompactOptions{Grace: 1})
	if err != nil || report.Hours != 1 {
		t.Errorf("with space: %+v, %v", report, err)
	}
	if w := askedData(t, product, "stats", testDay, ""); !strings.Contains(w.Body.String(), `"num_of_requests":2`) {
		t.Errorf("the records afterwards: %s", w.Body)
	}
}
