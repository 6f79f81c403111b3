package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestTypesHaveEveryMember decodes the answers of the examples of the API. A member that no type has is an error.
func TestTypesHaveEveryMember(t *testing.T) {
	types := map[string]func(body []byte) error{
		"logs":      strictly[Record],
		"stats":     strictly[Stats],
		"timeline":  strictly[Timeline],
		"topx":      strictly[TopX],
		"facets":    strictly[Facet],
		"histogram": strictly[Bar],
		"diff":      strictly[Finding],
		"values":    strictly[Value],
		"why":       strictly[Explanation],
		"incidents": strictly[Incident],
		"effect":    strictly[Effect],
		"whatif":    strictly[WhatIf],
	}
	files, err := filepath.Glob("../api/examples/*.200.*.http")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	decoded := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, response, _ := strings.Cut(string(text), "--- response\n")
		_, body, _ := strings.Cut(response, "\n\n")
		operation, _, _ := strings.Cut(filepath.Base(file), ".")
		route := strings.TrimSuffix(operation, "-post")
		decode, ok := types[route]
		switch {
		case !strings.Contains(body, `"fingerprint"`), route == "query-status", route == "report":
			continue // no answer of a data route
		case !ok:
			t.Errorf("%s: the client has no type for the results of %s", file, route)
			continue
		}
		decoded[route] = true
		if err := decode([]byte(body)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	for route := range types {
		if !decoded[route] {
			t.Errorf("no example of %s", route)
		}
	}
}

func strictly[Result any](body []byte) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	return d.Decode(&struct {
		Data struct {
			Results []Result `json:"results"`
		} `json:"data"`
		Meta Meta `json:"meta"`
	}{})
}

// script is a server that answers each request with the next of its answers.
type script struct {
	t       *testing.T
	answers []scripted
	asked   []string // method, path and body of the requests
	pauses  []time.Duration
	client  *Client
}

// scripted is an answer of a script.
type scripted struct {
	status int
	header map[string]string
	body   string
}

const noRecords = `{"data":{"results":[]},"meta":{"next":null}}`

func newScript(t *testing.T, answers ...scripted) *script {
	s := &script{t: t, answers: answers}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.client = &Client{BaseURL: server.URL + "/live/api/v4.3/", Key: "secret", Pause: s.pause}
	return s
}

func (s *script) pause(ctx context.Context, d time.Duration) error {
	s.pauses = append(s.pauses, d)
	return ctx.Err()
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Header.Get("Authorization") != "Bearer secret" {
		s.t.Errorf("%v: %v", r.Header, err)
	}
	s.asked = append(s.asked, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+string(body)))
	if len(s.answers) == 0 {
		http.Error(w, "the script has ended", http.StatusTeapot)
		return
	}
	next := s.answers[0]
	s.answers = s.answers[1:]
	for name, value := range next.header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(next.status)
	fmt.Fprint(w, next.body)
}

// expect compares the requests and the pauses with those of the test.
func (s *script) expect(requests []string, pauses ...time.Duration) {
	s.t.Helper()
	if diff := cmp.Diff(requests, s.asked); diff != "" {
		s.t.Errorf("requests differ (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(pauses, s.pauses); diff != "" {
		s.t.Errorf("pauses differ (-want +got):\n%s", diff)
	}
}

const (
	ask1 = `POST /live/api/v4.0/data/logs {"filters":"x"}`
	poll = "GET /live/api/v4.0/data/queries/7"
)

var location = map[string]string{"Location": "queries/7", "Retry-After": "3"}

func TestWaitsForRunningQueries(t *testing.T) {
	for name, first := range map[string]int{"started": http.StatusAccepted, "over the limit": http.StatusGatewayTimeout} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t, scripted{first, location, `{}`},
				scripted{http.StatusAccepted, map[string]string{"Retry-After": "5"}, `{}`},
				scripted{http.StatusServiceUnavailable, map[string]string{"Retry-After": "2"}, `{"message":"busy"}`},
				scripted{http.StatusOK, nil, noRecords})
			if _, err := s.client.Logs(t.Context(), Question{Filters: "x"}); err != nil {
				t.Fatal(err)
			}
			s.expect([]string{ask1, poll, poll, poll}, 3*time.Second, 5*time.Second, 2*time.Second)
		})
	}
	t.Run("the query fails", func(t *testing.T) {
		s := newScript(t, scripted{http.StatusAccepted, location, `{}`},
			scripted{http.StatusUnprocessableEntity, nil, `{"message":"too many groups"}`})
		_, err := s.client.Logs(t.Context(), Question{Filters: "x"})
		var failed *Error
		if !errors.As(err, &failed) || failed.Status != 422 || failed.Error() != "too many groups" {
			t.Error(err)
		}
	})
	t.Run("the query fails because the server was busy", func(t *testing.T) {
		for _, status := range []int{http.StatusServiceUnavailable, http.StatusGatewayTimeout} {
			s := newScript(t, scripted{http.StatusAccepted, location, `{}`}, scripted{status, nil, `{"message":"failed"}`})
			_, err := s.client.Logs(t.Context(), Question{Filters: "x"})
			var failed *Error
			if !errors.As(err, &failed) || failed.Status != status {
				t.Error(err)
			}
			s.expect([]string{ask1, poll}, 3*time.Second)
		}
	})
	t.Run("the caller gives up", func(t *testing.T) {
		s := newScript(t, scripted{http.StatusAccepted, location, `{}`})
		ctx, cancel := context.WithCancel(t.Context())
		s.client.Pause = func(ctx context.Context, _ time.Duration) error {
			cancel()
			return ctx.Err()
		}
		if _, err := s.client.Logs(ctx, Question{Filters: "x"}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	t.Run("a location elsewhere is not followed", func(t *testing.T) {
		s := newScript(t, scripted{http.StatusAccepted, map[string]string{"Location": "http://elsewhere.example/"}, `{}`})
		if _, err := s.client.Logs(t.Context(), Question{Filters: "x"}); err == nil {
			t.Error("the key was sent elsewhere")
		}
		s.expect([]string{ask1})
	})
}

func TestRepeatsRefusedRequests(t *testing.T) {
	busy := scripted{http.StatusServiceUnavailable, map[string]string{"Retry-After": "7"}, `{"message":"busy"}`}
	t.Run("until the server answers", func(t *testing.T) {
		s := newScript(t, busy, scripted{http.StatusTooManyRequests, nil, ""}, scripted{http.StatusOK, nil, noRecords})
		if _, err := s.client.Logs(t.Context(), Question{Filters: "x"}); err != nil {
			t.Fatal(err)
		}
		s.expect([]string{ask1, ask1, ask1}, 7*time.Second, 2*time.Second)
	})
	t.Run("at most as often as the client allows", func(t *testing.T) {
		s := newScript(t, busy, busy, busy)
		s.client.Retries = 1
		if _, err := s.client.Logs(t.Context(), Question{Filters: "x"}); err == nil || err.Error() != "busy" {
			t.Error(err)
		}
		s.expect([]string{ask1, ask1}, 7*time.Second)
	})
	t.Run("and reports that it waits", func(t *testing.T) {
		s := newScript(t, scripted{status: 429, header: map[string]string{"Retry-After": "60"}}, scripted{status: 200})
		var waits []string
		s.client.Busy = func(refused *Error, wait time.Duration) {
			waits = append(waits, fmt.Sprint(refused.Status, " ", wait))
		}
		_, err := s.client.Do(t.Context(), Request{Method: "GET", Path: "/status"})
		if diff := cmp.Diff([]string{"429 1m0s"}, waits); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	})
	t.Run("but not after the deadline of the caller", func(t *testing.T) {
		s := newScript(t, scripted{status: 429, header: map[string]string{"Retry-After": "60"}})
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		_, err := s.client.Do(ctx, Request{Method: "GET", Path: "/status"})
		var refused *Error
		if !errors.As(err, &refused) || refused.Status != 429 || len(s.pauses) > 0 {
			t.Errorf("%v after %v", err, s.pauses)
		}
	})
	t.Run("but not those that change something", func(t *testing.T) {
		for _, r := range []Request{
			{Method: http.MethodPut, Path: "/conf/prod/planets/__default__", Body: []byte("{}")},
			{Method: http.MethodPost, Path: "/conf/prod/planets/restore", Body: []byte("{}")},
			{Method: http.MethodDelete, Path: "/data/queries/7"},
		} {
			s := newScript(t, busy)
			if _, err := s.client.Do(t.Context(), r); err == nil || len(s.asked) != 1 {
				t.Errorf("%s %s: %d requests, %v", r.Method, r.Path, len(s.asked), err)
			}
		}
	})
}

func TestRecords(t *testing.T) {
	page := func(cursor string, records ...int) scripted {
		next := "null"
		if cursor != "" {
			next = fmt.Sprintf("%q", cursor)
		}
		list, err := json.Marshal(records)
		if err != nil {
			t.Fatal(err)
		}
		return scripted{http.StatusOK, nil, fmt.Sprintf(`{"data":{"results":%s},"meta":{"next":%s}}`, list, next)}
	}
	read := func(s *script) (records []string, err error) {
		for r, failed := range s.client.Records(t.Context(), Question{Filters: "x"}) {
			if failed != nil {
				return records, failed
			}
			records = append(records, string(r))
		}
		return records, nil
	}
	t.Run("reads one page after the other", func(t *testing.T) {
		s := newScript(t, page("a", 3, 2), page("b", 1), page(""))
		records, err := read(s)
		if diff := cmp.Diff([]string{"3", "2", "1"}, records); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
		s.expect([]string{
			ask1, `POST /live/api/v4.0/data/logs {"filters":"x","cursor":"a"}`,
			`POST /live/api/v4.0/data/logs {"filters":"x","cursor":"b"}`,
		})
	})
	t.Run("ends with an error", func(t *testing.T) {
		s := newScript(t, page("a", 3), scripted{http.StatusBadRequest, nil, `{"message":"wrong"}`})
		if records, err := read(s); err == nil || len(records) != 1 {
			t.Errorf("%v %v", records, err)
		}
	})
	t.Run("does not go round in circles", func(t *testing.T) {
		s := newScript(t, page("a", 3), page("a", 2), page("a", 1))
		if records, err := read(s); err == nil || len(records) != 2 {
			t.Errorf("%v %v", records, err)
		}
	})
}

func TestErrorsNameThePlace(t *testing.T) {
	s := newScript(t,
		scripted{http.StatusUnprocessableEntity, nil,
			`{"message":"invalid","detail":[{"loc":["body","limit"],"msg":"must be at least 1"}]}`},
		scripted{http.StatusInternalServerError, nil, `{"message":"internal error","request_id":"17"}`},
		scripted{http.StatusBadGateway, nil, "<html>"})
	for _, want := range []string{
		"invalid\n  body.limit: must be at least 1", "internal error\n  request id: 17", " answered 502",
	} {
		_, err := s.client.Stats(t.Context(), Question{Filters: "x", Limit: -1, More: map[string]any{"tz": "UTC"}})
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if want := `{"filters":"x","limit":-1,"tz":"UTC"}`; !strings.HasSuffix(s.asked[0], want) {
		t.Errorf("asked %s, want %s", s.asked[0], want)
	}
}

func TestAddresses(t *testing.T) {
	for _, address := range []string{"", "localhost:8080", "ftp://localhost", "http://", "http://a b"} {
		if _, err := (&Client{BaseURL: address}).Logs(t.Context(), Question{}); err == nil ||
			!strings.Contains(err.Error(), "the address of the server") {
			t.Errorf("%q: %v", address, err)
		}
	}
}
