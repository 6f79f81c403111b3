package cloud_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/completionindex"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/ingest/cloud"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/lake"
)

// listsOf returns the name in the bucket of the lists of an object.
func listsOf(object string) string {
	return "lake/" + completionindex.Name(strings.TrimPrefix(object, "lake/"))
}

// objects returns the names of all objects with records.
func (w *world) objects() []string {
	return append(w.names("lake/compact/"), w.names("lake/fresh/")...)
}

// made returns the lists of the content of an object.
func made(t testing.TB, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "object.parquet")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	lists, err := scan.ValueLists(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	return string(lists)
}

// expectLists checks that every object has its lists, and that there are no others.
func (w *world) expectLists() {
	w.t.Helper()
	var want []string
	for _, name := range w.objects() {
		want = append(want, listsOf(name))
	}
	slices.Sort(want)
	got := w.names("lake/_values/")
	if diff := cmp.Diff(want, got); diff != "" || len(got) == 0 {
		w.t.Fatalf("lists (-objects +lists):\n%s", diff)
	}
	for _, name := range w.objects() {
		if w.content(listsOf(name)) != made(w.t, w.content(name)) {
			w.t.Errorf("%s does not have the lists of its records", name)
		}
	}
}

// removeLists removes all lists, as if an earlier version had written the lake.
func (w *world) removeLists() {
	w.t.Helper()
	if err := w.lake.Delete(w.t.Context(), w.names("lake/_values/")...); err != nil {
		w.t.Fatal(err)
	}
}

func TestEveryObjectHasLists(t *testing.T) {
	t.Run("after imports, compactions and late records", func(t *testing.T) {
		w := newWorld(t)
		w.importLog("raw/a", records(0, 20, 10*time.Minute))
		w.importLog("raw/b", records(100, 104, time.Minute))
		w.importLog("raw/a", records(0, 30, 10*time.Minute))
		w.expectLists()
		w.time = testTime.Add(7 * time.Hour)
		w.compact()
		w.importLog("raw/late", records(0, 90, time.Minute))
		w.expectLists()
		w.pass(8 * time.Hour)
		if report := w.compact(); report.Removed == 0 {
			t.Fatalf("%+v", report)
		}
		w.expectLists()
	})
	t.Run("after another process has published the import", func(t *testing.T) {
		w := newWorld(t)
		w.put("raw/a", records(0, 20, 10*time.Minute))
		config := w.config()
		config.Lake = refusingStore{w.lake, "lake/fresh/"}
		if _, err := w.cloudOf(config).Import(t.Context(), rawlog.Log{Key: "raw/a"}); !errors.Is(err, errRefused) {
			t.Fatal(err)
		}
		if lists := w.names("lake/_values/"); len(lists) > 0 {
			t.Errorf("lists before their objects: %v", lists)
		}
		w.compact()
		w.expect(each(0, 20))
		w.expectLists()
	})
	t.Run("after an object was lost and rebuilt", func(t *testing.T) {
		w := newWorld(t)
		w.importLog("raw/a", records(0, 20, 10*time.Minute))
		name := w.names("lake/fresh/")[0]
		w.lose(name)
		if slices.Contains(w.names("lake/_values/"), listsOf(name)) {
			t.Errorf("the lists of the lost object are left")
		}
		w.pass(2 * time.Hour)
		w.compact()
		w.expectLost(0)
		w.expect(each(0, 20))
		w.expectLists()
	})
	t.Run("in hours with one object and in hours with several, once they are compacted after an upgrade",
		func(t *testing.T) {
			w := newWorld(t)
			w.importLog("raw/a", records(0, 20, 10*time.Minute))
			w.importLog("raw/b", records(100, 104, time.Minute))
			w.removeLists()
			w.time = testTime.Add(24 * time.Hour)
			w.compact()
			w.pass(24 * time.Hour)
			w.compact()
			w.expectLists()
		})
}

// listsStore does something else for requests for lists, staged or not.
type listsStore struct {
	blob.Store
	do func(ctx context.Context, method, name string) error
}

func areLists(name string) bool {
	return strings.HasPrefix(name, "lake/_values/") || strings.HasSuffix(name, ".values")
}

func (s listsStore) Get(
	ctx context.Context, name, version string, offset int64,
) (io.ReadCloser, blob.Info, error) {
	if areLists(name) {
		if err := s.do(ctx, "get", name); err != nil {
			return nil, blob.Info{}, err
		}
	}
	return s.Store.Get(ctx, name, version, offset)
}

func (s listsStore) Put(ctx context.Context, name string, body io.ReadSeeker, when blob.Condition) error {
	if areLists(name) {
		if err := s.do(ctx, "put", name); err != nil {
			return err
		}
	}
	return s.Store.Put(ctx, name, body, when)
}

func (s listsStore) Copy(ctx context.Context, from, to string) error {
	if areLists(to) {
		if err := s.do(ctx, "copy", to); err != nil {
			return err
		}
	}
	return s.Store.Copy(ctx, from, to)
}

// TestRecordsDoNotNeedLists: whichever requests for lists fail, the records are imported, compacted and kept, the
// failure is reported, and nothing of the attempt is left.
func TestRecordsDoNotNeedLists(t *testing.T) {
	for _, failing := range []string{"put", "copy", "get", "put copy get"} {
		t.Run("requests that fail: "+failing, func(t *testing.T) {
			w := newWorld(t)
			var mu sync.Mutex
			var unlisted []string
			config := func() cloud.Config {
				c := w.config()
				c.Lake = listsStore{w.lake, func(_ context.Context, method, _ string) error {
					if strings.Contains(failing, method) {
						return errRefused
					}
					return nil
				}}
				c.Unlisted = func(_ context.Context, object string, err error) {
					mu.Lock()
					defer mu.Unlock()
					if !errors.Is(err, errRefused) {
						t.Errorf("%s: %v", object, err)
					}
					unlisted = append(unlisted, object)
				}
				return c
			}
			for i, text := range []string{records(0, 20, 10*time.Minute), records(100, 104, time.Minute)} {
				key := fmt.Sprintf("raw/%d", i)
				w.put(key, text)
				if _, err := w.cloudOf(config()).Import(t.Context(), rawlog.Log{Key: key}); err != nil {
					t.Fatal(err)
				}
			}
			want := each(0, 20)
			for i := range 4 {
				want[fmt.Sprintf("r%d", 100+i)] = 1
			}
			w.expect(want)
			for range 3 {
				w.pass(26 * time.Hour)
				report, err := w.cloudOf(config()).Compact(t.Context(), time.Time{})
				if err != nil || report.Unfinished {
					t.Fatalf("%+v, %v", report, err)
				}
				w.expect(want)
			}
			if left := append(w.names("lake/_staging/"), w.names("lake/fresh/")...); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			if len(unlisted) == 0 {
				t.Error("no failure is reported")
			}
			for _, name := range w.names("lake/_values/") {
				if object := strings.Replace(name, "/_values", "", 1); !slices.Contains(w.objects(),
					strings.TrimSuffix(object, ".json.zst")+".parquet") {
					t.Errorf("%s are lists of no object", name)
				}
			}
		})
	}
}

// TestRequestsForListsEnd: no request for lists may take longer than some seconds.
func TestRequestsForListsEnd(t *testing.T) {
	w := newWorld(t)
	methods := map[string]int{}
	var mu sync.Mutex
	config := w.config()
	config.Lake = listsStore{w.lake, func(ctx context.Context, method, name string) error {
		mu.Lock()
		defer mu.Unlock()
		methods[method]++
		if at, ok := ctx.Deadline(); !ok || time.Until(at) > time.Minute {
			t.Errorf("%s %s may take any time", method, name)
		}
		return nil
	}}
	c := w.cloudOf(config)
	for i, text := range []string{records(0, 20, 10*time.Minute), records(100, 104, time.Minute)} {
		key := fmt.Sprintf("raw/%d", i)
		w.put(key, text)
		if _, err := c.Import(t.Context(), rawlog.Log{Key: key}); err != nil {
			t.Fatal(err)
		}
	}
	w.pass(26 * time.Hour)
	if _, err := c.Compact(t.Context(), time.Time{}); err != nil {
		t.Fatal(err)
	}
	if methods["put"] == 0 || methods["copy"] == 0 || methods["get"] == 0 {
		t.Errorf("%v", methods)
	}
}

// TestFailuresOfListsAreFew: an import of many objects does not try to put lists again and again.
func TestFailuresOfListsAreFew(t *testing.T) {
	w := newWorld(t)
	w.put("raw/a", records(0, 40, time.Hour))
	w.time = testTime.Add(48 * time.Hour)
	tried := 0
	config := w.config()
	config.Options.Workers = 1
	config.Lake = listsStore{w.lake, func(context.Context, string, string) error {
		tried++
		return errRefused
	}}
	report, err := w.cloudOf(config).Import(t.Context(), rawlog.Log{Key: "raw/a"})
	if err != nil || report.Objects != 40 || tried == 0 || tried > 5 {
		t.Errorf("%d of %d lists were tried, %v", tried, report.Objects, err)
	}
	w.expect(each(0, 40))
	w.compact()
	w.expectAlways(each(0, 40))
	w.expectLists()
}

// TestEqualLogsHaveEqualLists imports and compacts the same logs twice.
func TestEqualLogsHaveEqualLists(t *testing.T) {
	var worlds []*world
	for range 2 {
		w := newWorld(t)
		w.importLog("raw/a", records(0, 20, 10*time.Minute))
		w.importLog("raw/b", records(100, 104, time.Minute))
		w.time = testTime.Add(7 * time.Hour)
		w.compact()
		worlds = append(worlds, w)
	}
	names := worlds[0].names("lake/_values/")
	if diff := cmp.Diff(names, worlds[1].names("lake/_values/")); diff != "" || len(names) < 4 {
		t.Fatalf("%d lists: %s", len(names), diff)
	}
	for _, name := range names {
		if worlds[0].content(name) != worlds[1].content(name) {
			t.Errorf("%s differs", name)
		}
	}
}

// expectOwnLists checks the lists at the end of a play: those that name the size of their object are the lists of its
// records. After a failure, lists may be missing, or left over without their object. It returns how many it has
// checked.
func (p *play) expectOwnLists() (checked int) {
	ctx := context.Background()
	content := func(name string) string {
		body, _, err := p.lake.Get(ctx, name, "", 0)
		if err != nil {
			p.t.Errorf("%v", err)
			return ""
		}
		text, err := io.ReadAll(body)
		if err := errors.Join(err, body.Close()); err != nil {
			p.t.Error(err)
		}
		return string(text)
	}
	for info, err := range p.lake.List(ctx, "lake/_values/", "") {
		if err != nil {
			p.t.Fatal(err)
		}
		object := strings.TrimSuffix(strings.Replace(info.Name, "/_values", "", 1), ".json.zst") + ".parquet"
		if _, err := p.lake.Head(ctx, object); err != nil {
			continue // readers do not look for them
		}
		of, encoded := content(object), content(info.Name)
		lists, err := completionindex.Decode([]byte(encoded))
		if err != nil {
			p.t.Errorf("%s: %v", info.Name, err)
			continue
		}
		if lists.Bytes != int64(len(of)) {
			continue // readers do not use them
		}
		checked++
		if encoded != made(p.t, of) {
			p.t.Errorf("%s are not the lists of %s", info.Name, lake.NameOf(object))
		}
	}
	return checked
}
