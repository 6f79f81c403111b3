package resource

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/problem"
	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/table/tabletest"
)

// note is a kind of documents that only this file has.
type note struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// TestOneMoreKindOfDocuments: a kind needs its name, how it is read, and how it is shown.
func TestOneMoreKindOfDocuments(t *testing.T) {
	store := document.Over(&tabletest.Memory{})
	s := &server{Config{Now: func() time.Time { return time.UnixMilli(1_767_323_045_678) }, Maintenance: func() bool { return false }}}
	notes := documents{
		server: s, store: store, limit: 100, find: named("note", "note", "note"),
		parse: func(_ *route.Call, body []byte) (replacement, error) {
			var n note
			if err := json.Unmarshal(body, &n); err != nil {
				return nil, problem.Details{{Msg: err.Error()}}
			}
			return unconditional(n.Text), nil
		},
		show: func(id document.ID, v document.Version) ([]byte, error) {
			return content.Encode(note{id.Name, v.Text}), nil
		},
		list: func(c *route.Call, config string) (any, error) {
			list, err := store.List(c.Request.Context(), "note", config)
			return len(list), err
		},
	}
	mux := http.NewServeMux()
	for _, to := range notes.routes(documentTexts{
		id: "note", tag: "notes", param: "note", noun: "note", nouns: "notes", it: "note",
		read: keys.ConfRead, write: keys.ConfWrite,
	}) {
		mux.HandleFunc(to.Method+" "+to.Path, func(w http.ResponseWriter, r *http.Request) {
			c := &route.Call{Request: r, Writer: &route.Meter{ResponseWriter: w}, Route: &to}
			if err := to.Handle(c); err != nil {
				w.WriteHeader(problem.Of(err, problem.Request{}).Code)
			}
		})
	}
	const all, one = "/conf/prod/notes", "/conf/prod/notes/first"
	const first, second = `{"name":"first","text":"one"}`, `{"name":"first","text":"two"}`
	for _, step := range []struct {
		method, path, body string
		status             int
		want               string // "": any body
	}{
		{"GET", one, "", http.StatusNotFound, ""},
		{"PUT", one, `{"text":"one"`, http.StatusUnprocessableEntity, ""},
		{"PUT", all + "/First", `{"text":"one"}`, http.StatusUnprocessableEntity, ""},
		{"PUT", one, `{"text":"one"}`, http.StatusOK, first},
		{"PUT", one, `{"text":"two"}`, http.StatusOK, second},
		{"GET", one, "", http.StatusOK, second},
		{"GET", one + "/versions/1", "", http.StatusOK, first},
		{"GET", one + "/versions/3", "", http.StatusNotFound, ""},
		{"GET", all, "", http.StatusOK, "1"},
		{"DELETE", one, "", http.StatusNoContent, ""},
		{"GET", one, "", http.StatusNotFound, ""},
		{"GET", all, "", http.StatusOK, "0"},
		{"GET", one + "/versions", "", http.StatusOK, ""},
		{"POST", one + "/versions/1/restore", "", http.StatusOK, first},
		{"GET", one, "", http.StatusOK, first},
	} {
		r := httptest.NewRequestWithContext(t.Context(), step.method, step.path, strings.NewReader(step.body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		if w.Code != step.status || step.want != "" && w.Body.String() != step.want {
			t.Errorf("%s %s: %d %s, want %d %s", step.method, step.path, w.Code, w.Body, step.status, step.want)
		}
	}
}
