package api

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/keys"
)

// note is a kind of documents that only this file has.
type note struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// TestOneMoreKindOfDocuments: a kind needs its name, how it is read, and how it is shown.
func TestOneMoreKindOfDocuments(t *testing.T) {
	test := newTestServer(t)
	s := test.Config.Handler.(*server)
	notes := documents{
		resourceServer: &resourceServer{ResourceConfig{Now: s.Now, Maintenance: s.Maintenance}}, store: s.Documents, limit: 100, find: named("note", "note", "note"),
		parse: func(_ *call, body []byte) (replacement, error) {
			var n note
			if err := json.Unmarshal(body, &n); err != nil {
				return nil, details{notJSON(err)}
			}
			return unconditional(n.Text), nil
		},
		show: func(id document.ID, v document.Version) ([]byte, error) { return encode(note{id.Name, v.Text}), nil },
		list: func(c *call, config string) (any, error) {
			list, err := s.Documents.List(c.r.Context(), "note", config)
			return len(list), err
		},
	}
	s.register(notes.routes(documentTexts{
		id: "note", tag: "notes", param: "note", noun: "note", it: "note", read: keys.ConfRead, write: keys.ConfWrite,
	}))
	const all, one = "/api/v4.0/conf/prod/notes", "/api/v4.0/conf/prod/notes/first"
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
		head := step.method + " " + step.path + " HTTP/1.1\nHost: localhost"
		if step.body != "" {
			head += "\nContent-Type: application/json"
		}
		r := test.send(t, message{head: head, body: step.body})
		if r.StatusCode != step.status || step.want != "" && string(r.body) != step.want {
			t.Errorf("%s %s: %s %s, want %d %s", step.method, step.path, r.Status, r.body, step.status, step.want)
		}
	}
}
