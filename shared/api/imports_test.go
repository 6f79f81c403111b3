package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/api/importing"
	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/fault"
)

// someImports is an importer that has imported one log, and takes logs that are not empty.
type someImports struct{}

func (someImports) Imports(context.Context, int) ([]importing.ListedImport, error) {
	from, to := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC), time.Date(2026, 1, 1, 12, 30, 0, 0, time.UTC)
	return []importing.ListedImport{{
		ID: "8919c8c65be30052", Log: "access.log.gz", Format: "combined", Records: 10_000, Rejected: 2,
		From: &from, To: &to, At: to.Add(time.Hour),
	}}, nil
}

func (someImports) Sample(_ context.Context, log importing.Log) (importing.Sample, error) {
	at := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	return importing.Sample{
		Log: log.Name, Format: "combined", Shown: "combined", From: &at, To: &at,
		First: json.RawMessage(`{"ip":"203.0.113.7","status":200,"timestamp":"2026-01-01T10:00:00Z"}`),
	}, nil
}

func (someImports) Import(_ context.Context, log importing.Log) ([]importing.Imported, error) {
	text, err := io.ReadAll(log.Body)
	switch {
	case err != nil:
		return nil, err
	case len(text) == 0:
		return nil, fault.New(fault.Invalid, "the log is empty")
	case !log.Anyway && bytes.HasPrefix(text, []byte("#")):
		return nil, importing.Unconfirmed("1 of the first 1 lines are not records of the format combined")
	}
	id, at := "8919c8c65be30052", time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	return []importing.Imported{{
		Log: log.Name, ID: &id, Format: "combined", Records: int64(bytes.Count(text, []byte("HTTP/1.1"))),
		Rejected: map[string]int64{"bad_line": 1}, First: "line 2: the line ends early", Absent: []string{"host"},
		From: &at, To: &at,
	}}, nil
}

func (someImports) Forget(_ context.Context, id string) (importing.Forgotten, error) {
	if id != "8919c8c65be30052" {
		return importing.Forgotten{}, fault.New(fault.NotFound, "there is no import with this id")
	}
	return importing.Forgotten{ID: id, Log: "access.log.gz", Records: 10_000}, nil
}

// TestReadmeListsTheRoutesOfImports: only a server on one machine has them.
func TestReadmeListsTheRoutesOfImports(t *testing.T) {
	var want, got []string
	for _, r := range importing.Routes(someImports{}) {
		want = append(want, strings.Join([]string{r.Method, r.Path, string(r.Scope)}, " "))
	}
	for _, row := range table(t, "Imports") {
		if len(row) == 4 && row[2] != "" {
			got = append(got, strings.Join(row[:3], " "))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("routes (-code +README):\n%s", diff)
	}
	if i := slices.IndexFunc(everyRoute(), func(r route.Route) bool { return r.Tag == route.ImportsTag }); i >= 0 {
		t.Error("a server without an importer has these routes")
	}
}

// TestWhoMayImport: a request that a page of another site can send imports nothing, nor does a key without the scope, or
// one that sees only some branches.
func TestWhoMayImport(t *testing.T) {
	open, keyed := newTestServer(t, "imports"), newTestServer(t, "imports", "keys")
	const path = "/api/v4.0/imports?name=access.log"
	for name, test := range map[string]struct {
		server *testServer
		header map[string]string
		want   int
		says   string
	}{
		"as meant":               {open, nil, http.StatusOK, `"records": 1`},
		"without the header":     {open, map[string]string{"X-Orrery-Import": ""}, http.StatusForbidden, "X-Orrery-Import"},
		"as a form":              {open, map[string]string{"Content-Type": "text/plain"}, http.StatusUnsupportedMediaType, "octet-stream"},
		"from another site":      {open, map[string]string{"Origin": "http://evil.example"}, http.StatusForbidden, "other origins"},
		"by a name of this host": {open, map[string]string{"Host": "evil.example"}, http.StatusForbidden, "loopback"},
		"without a key":          {keyed, nil, http.StatusUnauthorized, "key"},
		"with a key":             {keyed, map[string]string{"X-Api-Key": "full-key"}, http.StatusOK, `"records": 1`},
		"with a key that reads":  {keyed, map[string]string{"X-Api-Key": "read-key"}, http.StatusForbidden, "data:write"},
		"with a key of a branch": {keyed, map[string]string{"X-Api-Key": "branch-key"}, http.StatusForbidden, "branches"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, test.server.URL+path, strings.NewReader("GET / HTTP/1.1\n"))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/octet-stream")
			r.Header.Set("X-Orrery-Import", "true")
			for name, value := range test.header {
				if r.Header.Set(name, value); name == "Host" {
					r.Host = value
				}
			}
			response, err := test.server.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(response.Body)
			if err != nil || response.Body.Close() != nil {
				t.Fatal(err)
			}
			if got := strings.ReplaceAll(string(body), `":`, `": `); response.StatusCode != test.want || !strings.Contains(got, test.says) {
				t.Errorf("%d: %s; want %d with %q", response.StatusCode, body, test.want, test.says)
			}
		})
	}
}

// TestLogThatIsCutOff: a request that ends before its body is no log.
func TestLogThatIsCutOff(t *testing.T) {
	importer := make(ending)
	s := newServer(t, func(c *Config) { c.Importer = importer })
	body, send := io.Pipe()
	go func() {
		_, _ = io.WriteString(send, "a li")
		_ = send.CloseWithError(fmt.Errorf("the network is gone"))
	}()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/api/v4.0/imports?name=a", body)
	if err != nil {
		t.Fatal(err)
	}
	r.ContentLength = 1000
	r.Header.Set("Content-Type", "application/octet-stream")
	r.Header.Set("X-Orrery-Import", "true")
	if response, err := s.Client().Do(r); err == nil {
		t.Errorf("the answer is %s", response.Status)
		_ = response.Body.Close()
	}
	if err := <-importer; err == nil {
		t.Error("the context of the import goes on")
	}
}

// ending sends the error of the context of an import when its log has ended.
type ending chan error

func (e ending) Import(ctx context.Context, log importing.Log) ([]importing.Imported, error) {
	_, err := io.Copy(io.Discard, log.Body)
	e <- ctx.Err()
	return nil, err
}
func (ending) Imports(context.Context, int) ([]importing.ListedImport, error) { return nil, nil }
func (ending) Sample(context.Context, importing.Log) (s importing.Sample, _ error) {
	return s, nil
}
func (ending) Forget(context.Context, string) (f importing.Forgotten, _ error) { return f, nil }
