package local_test

import (
	"errors"
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
	text := strings.Repeat(`{"timestamp":"2026-01-01T10:00:00Z","host":"a.example","status":200}`+"\n", 3)
	_, err = product.Store.Import(t.Context(), "a.log", strings.NewReader(text), ingest.Options{})
	if err := errors.Join(err, product.Close()); err != nil {
		t.Fatal(err)
	}
}

// asked sends a request to the API of a product, and returns the status and the body.
func asked(t *testing.T, product *local.Product, method, path, body string) (status int, answer string) {
	t.Helper()
	handler, err := product.Handler(local.ServeOptions{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), method, "http://localhost/api/v4.0"+path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w.Code, w.Body.String()
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
			"timestamp between 2026-01-01 and 2026-01-02",
			`timestamp between 2026-01-01 and 2026-01-02, not ip="192.0.2.1", headers["x"]!="y"`,
		} {
			path := "/data/" + route + "?filters=" + url.QueryEscape(filters)
			status, answer := asked(t, product, http.MethodGet, path, "")
			if status != http.StatusOK || !strings.Contains(answer, want) {
				t.Errorf("%s: %d %s", path, status, answer)
			}
		}
	}
	status, answer := asked(t, product, http.MethodGet, "/status", "")
	if status != http.StatusOK || !strings.Contains(answer, `"records":3`) {
		t.Errorf("status: %d %s", status, answer)
	}
}

// TestNewProcessOnAFullDisk: a process that starts when the disk is full answers questions. What it cannot open or write
// is refused in these words, and works as soon as there is space.
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
			free := fillDisk(t, disk)
			product := openProduct(t, folder)
			answersAll(t, product)
			_, err := product.Store.Import(t.Context(), "b.log", strings.NewReader("{}\n"), ingest.Options{})
			if fault.KindOf(err) != fault.Full {
				t.Errorf("import: %v", err)
			}
			const filter = "/conf/prod/filters/errors"
			for _, one := range []struct{ method, path, body string }{
				{http.MethodGet, "/conf/prod/planets", ""},
				{http.MethodPut, filter, `{"filters":"status>=500"}`},
				{http.MethodGet, filter, ""},
			} {
				status, answer := asked(t, product, one.method, one.path, one.body)
				if status != http.StatusInsufficientStorage || !strings.Contains(answer, "disk is full") {
					t.Errorf("%s %s: %d %s", one.method, one.path, status, answer)
				}
			}
			known, err := local.OpenKeys(t.Context(), folder)
			if err != nil {
				t.Fatal(err)
			}
			list, err := known.List(t.Context())
			if err != nil || len(list) > 0 {
				t.Errorf("%d keys, %v", len(list), err)
			}
			grant := keys.Grant{Name: "n", Scopes: []keys.Scope{keys.DataRead}}
			if _, _, err := keys.Issue(t.Context(), known, grant, time.Now()); err == nil {
				t.Error("a key was created on a full disk")
			}

			free()
			for _, one := range []struct{ method, path, body string }{
				{http.MethodPut, filter, `{"filters":"status>=500"}`},
				{http.MethodGet, "/conf/prod/planets", ""},
			} {
				if status, answer := asked(t, product, one.method, one.path, one.body); status/100 != 2 {
					t.Errorf("%s %s with space: %d %s", one.method, one.path, status, answer)
				}
			}
			other, err := local.OpenKeys(t.Context(), folder)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err = keys.Issue(t.Context(), other, grant, time.Now()); err != nil {
				t.Fatal(err)
			}
			if list, err := known.List(t.Context()); err != nil || len(list) != 1 {
				t.Errorf("the server that began without keys sees %d, %v", len(list), err)
			}
			if err := errors.Join(known.Close(), other.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestRevokingOnAFullDisk: it is either done or refused in these words.
func TestRevokingOnAFullDisk(t *testing.T) {
	disk := smallDisk(t)
	folder := filepath.Join(disk, "data")
	open := func() local.Keys {
		t.Helper()
		known, err := local.OpenKeys(t.Context(), folder)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := known.Close(); err != nil {
				t.Error(err)
			}
		})
		return known
	}
	grant := keys.Grant{Name: "n", Scopes: []keys.Scope{keys.DataRead}}
	_, key, err := keys.Issue(t.Context(), open(), grant, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	fillDisk(t, disk)
	again := open()
	revoking := again.Revoke(t.Context(), key.ID, time.Now())
	found, err := again.Find(t.Context(), key.ID)
	if err != nil {
		t.Fatal(err)
	}
	revoked := !found.Revoked.IsZero()
	if revoked != (revoking == nil) || !revoked && fault.KindOf(revoking) != fault.Full {
		t.Errorf("revoked %t, %v", revoked, revoking)
	}
}

// TestNewProcessOnAReadOnlyDisk: a process answers questions from a file system that is mounted read-only.
func TestNewProcessOnAReadOnlyDisk(t *testing.T) {
	disk := smallDisk(t)
	folder, onlyKeys := filepath.Join(disk, "data"), filepath.Join(disk, "keys")
	importThree(t, folder)
	known, err := local.OpenKeys(t.Context(), onlyKeys)
	if err := errors.Join(err, known.Close()); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	answersAll(t, openProduct(t, folder))
	status, answer := asked(t, openProduct(t, onlyKeys), http.MethodGet,
		"/data/logs?filters="+url.QueryEscape("timestamp between 2026-01-01 and 2026-01-02"), "")
	if status != http.StatusOK || !strings.Contains(answer, `"results":[]`) {
		t.Errorf("a folder without records: %d %s", status, answer)
	}
}
