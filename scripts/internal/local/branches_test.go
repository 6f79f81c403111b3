package local_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/shared/gen"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/keys"
)

// recordsOf generates records of a branch within a period.
func recordsOf(t *testing.T, branch string, n int, seed uint64, from, to time.Time) string {
	t.Helper()
	var text bytes.Buffer
	records := gen.New(gen.Options{Records: n, Seed: seed, From: from, To: to})
	for {
		line, more := records.Next(nil)
		if !more {
			return text.String()
		}
		var record map[string]json.RawMessage
		if err := json.Unmarshal(line, &record); err != nil {
			t.Fatal(err)
		}
		record["branch"] = json.RawMessage(`"` + branch + `"`)
		if branch != "own" { // what must not be in an answer
			record["host"], record["hostname"] = json.RawMessage(`"other.example"`), json.RawMessage(`"other.example"`)
		}
		line, err := json.Marshal(record)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(append(line, '\n'))
	}
}

// installation is the API over a folder, with a key that is limited to branch own and one that is not.
type installation struct {
	handler         http.Handler
	key, everything string
}

func newInstallation(t *testing.T, logs ...string) installation {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "data")
	product := openProduct(t, folder)
	for i, log := range logs {
		_, err := product.Store.Import(t.Context(), fmt.Sprintf("%d.log", i), strings.NewReader(log), ingest.Options{})
		if err != nil {
			t.Fatal(err)
		}
	}
	known := local.OpenTestKeys(t, folder)
	grant := keys.Grant{Name: "team", Scopes: []keys.Scope{keys.DataRead}, Branches: []string{"own"}}
	key, _, err := keys.Issue(t.Context(), known, grant, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	grant.Branches = nil
	everything, _, err := keys.Issue(t.Context(), known, grant, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	access := &local.Access{Address: "127.0.0.1:8080", Keys: known}
	handler, err := product.Handler(local.ServeOptions{Access: access, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return installation{handler, key, everything}
}

// changing are the parts of answers that differ from request to request: times and ids.
var changing = regexp.MustCompile(`"(elapsed_ms|engine_ms|complete_through|request_id)": ?("[^"]*"|[^,}]*)` +
	`|"wait_ms":(null|\{[^}]*\})|(?m)^(Date|X-Request-Id|X-Orrery-Complete-Through|Content-Length): .*$`)

// tokens are the encrypted places of records in answers and headers. They contain the lines of records in their logs.
var tokens = regexp.MustCompile(`("(next|head)":")[^"]*|(?m)^(X-Orrery-(Next|Head): ).*$`)

// ask returns an answer without what changes from request to request.
func (i installation) ask(t *testing.T, path string) string {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/api/v4.0"+path, nil)
	r.Header.Set("Authorization", "Bearer "+i.key)
	w := httptest.NewRecorder()
	i.handler.ServeHTTP(w, r)
	var head bytes.Buffer
	if err := w.Header().Write(&head); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d\n%s\n%s", w.Code, changing.ReplaceAllString(head.String(), ""),
		changing.ReplaceAllString(w.Body.String(), ""))
}

// TestAnswersDoNotDependOnOtherBranches: a key that is limited to a branch gets the same answer from two installations, of
// which one also has records of another branch, between the first and the last record of its own. That holds for every
// route, form and limit, for pages, estimates and the status. Only times differ, and which values are found in a moment.
func TestAnswersDoNotDependOnOtherBranches(t *testing.T) {
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	own := recordsOf(t, "own", 300, 1, day, day.Add(time.Hour)) +
		recordsOf(t, "own", 50, 2, day.Add(3*time.Hour), day.Add(4*time.Hour))
	other := recordsOf(t, "other", 900, 3, day.Add(time.Hour/2), day.Add(7*time.Hour/2))
	alone, both := newInstallation(t, own), newInstallation(t, own, other)

	filters := []string{
		"timestamp between 2026-01-01 and 2026-01-02",
		"timestamp between 2026-01-01 01:10 and 2026-01-01 02:50", // only the other branch has records
		`timestamp between 2026-01-01 and 2026-01-02, branch!="own"`,
		`timestamp between 2025-12-01 and 2026-02-01, headers["user-agent"]~"o"`, // DuckDB answers
	}
	const fields = "country,host,path,status,tags,asn"
	questions := map[string][]string{
		"topx":     {"", "limit=2", "figures=percentiles", "format=csv", "format=ndjson", "limit=81"},
		"stats":    {"group_by=hostname&segment=6h", "segment=6h&figures=percentiles", "format=csv", "segment=1m"},
		"timeline": {"segment=1h", "tz=Europe/Berlin&segment=1d&format=ndjson"},
		"facets":   {"by=" + fields, "by=branch", "by=" + fields + "&order=blocked&limit=2", "by=ip&format=csv"},
		"histogram": {
			"by=host&segment=1h", "by=country&measure=blocked&limit=2&segment=1h", "measure=bytes_sent&segment=6h&format=csv",
		},
		"diff": {
			"select=status>=400&by=" + fields + "&least=1", "against=6h&by=" + fields + "&least=1",
			"against=previous", "select=blocked%20is%20true&format=csv",
		},
		"logs":   {"", "limit=7", "limit=2500&fields=timestamp,host,branch,record_ref", "format=csv", "format=ndjson&limit=3"},
		"report": {"format=json"},
		"values": {
			"field=host", "field=host&counts=true", "field=country&counts=true&limit=2", "field=branch", "field=path&prefix=/",
			"field=user_agent&contains=o", "field=headers%5B%22accept%22%5D",
		},
	}
	asked, answered := 0, 0
	samePage := func(t *testing.T, path, cursorAlone, cursorBoth string) {
		t.Helper()
		want := tokens.ReplaceAllString(alone.ask(t, path+cursorAlone), "$1$3")
		got := tokens.ReplaceAllString(both.ask(t, path+cursorBoth), "$1$3")
		// Values without counts are those that are found in a moment.
		quick := strings.HasPrefix(path, "/data/values") && !strings.Contains(path, "counts=true")
		if diff := cmp.Diff(want, got); diff != "" && !quick {
			t.Errorf("%s (-own branch alone +with another):\n%s", path, diff)
		}
		asked++
		if strings.HasPrefix(got, "200\n") {
			answered++
		}
		foreign := strings.Contains(got, "other.example") && !strings.Contains(path, "other.example")
		if foreign || strings.Contains(got, `"value":"other"`) {
			t.Errorf("%s has a value of the other branch:\n%s", path, got)
		}
	}
	same := func(t *testing.T, path string) {
		t.Helper()
		samePage(t, path, "", "")
	}
	for route, list := range questions {
		for _, parameters := range list {
			t.Run(strings.TrimSpace(route+" "+parameters), func(t *testing.T) {
				for _, f := range filters {
					if route == "values" && strings.Contains(f, ",") || route == "report" && f != filters[0] {
						continue // the filter of values is only a period, and a report asks the questions of the others
					}
					path := "/data/" + route + "?" + parameters + "&filters=" + url.QueryEscape(f)
					same(t, path)
					if route != "values" && route != "report" && !strings.Contains(parameters, "format") {
						same(t, path+"&dry_run=true")
					}
				}
			})
		}
	}
	t.Run("all pages", func(t *testing.T) {
		path := "/data/logs?limit=40&filters=" + url.QueryEscape(filters[0])
		next := regexp.MustCompile(`"next":"([^"]*)"`)
		cursors := []string{"", ""}
		for pages := 0; ; pages++ {
			samePage(t, path, cursors[0], cursors[1])
			ended := 0
			for i, of := range []installation{alone, both} {
				found := next.FindStringSubmatch(of.ask(t, path+cursors[i]))
				if found == nil {
					ended++
					continue
				}
				cursors[i] = "&cursor=" + url.QueryEscape(found[1])
			}
			if ended > 0 {
				if pages != 8 || ended != 2 {
					t.Errorf("%d pages have a next one, and %d installations have no further page", pages, ended)
				}
				break
			}
		}
	})
	t.Run("the newest values, the status and the fields", func(t *testing.T) {
		for _, path := range []string{"/data/values?field=host", "/status", "/data/fields"} {
			same(t, path)
		}
	})
	if answered < asked*3/4 {
		t.Errorf("only %d of %d requests were answered", answered, asked)
	}
	t.Run("a key without branches sees a difference", func(t *testing.T) {
		path := "/data/stats?filters=" + url.QueryEscape(filters[0])
		alone.key, both.key = alone.everything, both.everything
		if alone.ask(t, path) == both.ask(t, path) {
			t.Error("it does not")
		}
	})
}
