package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// A call is a request that a walk may answer in place of the server.
type call struct {
	t    *testing.T
	s    *served
	w    http.ResponseWriter
	r    *http.Request
	body map[string]any // of a POST
}

// to reports whether the path of a call ends so.
func (c *call) to(suffix string) bool { return strings.HasSuffix(c.r.URL.Path, suffix) }

// api reports whether a call is one of the API.
func (c *call) api() bool { return strings.HasPrefix(c.r.URL.Path, "/api/") }

// question reports whether a call is a question to a data route, and not only for an estimate.
func (c *call) question(route string) bool {
	return c.to("/data/"+route) && c.body["dry_run"] != true
}

// estimate reports whether a call asks for the estimate of a question to one of some data routes, or to any.
func (c *call) estimate(routes ...string) bool {
	if c.body["dry_run"] != true {
		return false
	}
	for _, route := range routes {
		if c.to("/data/" + route) {
			return true
		}
	}
	return len(routes) == 0
}

// filters are the conditions of a question.
func (c *call) filters() string {
	text, _ := c.body["filters"].(string)
	return text
}

// refuse answers with an error of the API.
func (c *call) refuse(status int, message string) bool {
	c.w.Header().Set("Content-Type", "application/json")
	c.w.WriteHeader(status)
	fmt.Fprintf(c.w, `{"code":%d,"message":%q,"request_id":"id-of-the-request"}`, status, message)
	return true
}

// fail answers that the server failed.
func (c *call) fail() bool {
	return c.refuse(http.StatusInternalServerError, "something went wrong on our side")
}

// notFound answers that there is nothing, in plain text, as servers do that are not the API.
func (c *call) notFound() bool {
	http.NotFound(c.w, c.r)
	return true
}

// busy answers that the service is busy, and can be asked again after so many seconds.
func (c *call) busy(seconds int) bool {
	c.w.Header().Set("Retry-After", fmt.Sprint(seconds))
	return c.refuse(http.StatusServiceUnavailable, "try again later")
}

// throttle answers that there are too many requests, until so many seconds have passed.
func (c *call) throttle(seconds int) bool {
	c.w.Header().Set("Retry-After", fmt.Sprint(seconds))
	return c.refuse(http.StatusTooManyRequests, "too many requests")
}

// runsOn answers that a query is still running.
func (c *call) runsOn(status int) bool {
	c.w.Header().Set("Retry-After", "0")
	c.w.WriteHeader(status)
	return true
}

// hangUp cuts the connection.
func (c *call) hangUp() bool { panic(http.ErrAbortHandler) }

// say answers with JSON.
func (c *call) say(text string) bool {
	c.w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(c.w, text)
	return true
}

// wait holds a call until a channel is closed, or until the page no longer wants the answer, which it reports.
func (c *call) wait(released <-chan struct{}) (left bool) {
	select {
	case <-released:
		return false
	case <-c.r.Context().Done():
		return true
	}
}

// writes reports whether a call replaces something.
func (c *call) writes() bool { return c.r.Method == http.MethodPut }

// leaves holds a call until the page no longer wants the answer.
func (c *call) leaves() bool {
	<-c.r.Context().Done()
	return true
}

// changed answers with what the server answers, whose meta is changed.
func (c *call) changed(change func(meta map[string]any)) bool {
	return c.rewritten(func(_, meta map[string]any) { change(meta) })
}

// rewritten answers with what the server answers, whose data and meta are changed.
func (c *call) rewritten(change func(data, meta map[string]any)) bool {
	recorder := c.direct()
	var answer struct {
		Data map[string]any `json:"data"`
		Meta map[string]any `json:"meta"`
	}
	if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil || answer.Meta == nil {
		c.t.Errorf("%s answered %d: %s", c.r.URL.Path, recorder.Code, recorder.Body)
		return false
	}
	change(answer.Data, answer.Meta)
	c.w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(c.w).Encode(answer) // the page may have given up the question
	return true
}

// direct returns what the server answers.
func (c *call) direct() *httptest.ResponseRecorder {
	text, err := json.Marshal(c.body)
	if err != nil {
		c.t.Error(err)
	}
	recorder := httptest.NewRecorder()
	direct := httptest.NewRequest(http.MethodPost, c.r.URL.Path, strings.NewReader(string(text)))
	direct.Host = "localhost"
	direct.Header.Set("Content-Type", "application/json")
	c.s.direct.ServeHTTP(recorder, direct)
	return recorder
}

// weighs changes the estimate of a question to one of some data routes, or to any: that of an estimate, and that of the refusal of a
// question with a ceiling.
func (c *call) weighs(change func(meta map[string]any), routes ...string) bool {
	if c.estimate(routes...) {
		return c.changed(change)
	}
	if c.body["max_bytes"] == nil || len(routes) > 0 && !slices.ContainsFunc(routes, c.question) {
		return false
	}
	c.body["dry_run"] = true
	delete(c.body, "max_bytes")
	recorder := c.direct()
	var answer struct{ Meta map[string]any }
	if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil || answer.Meta == nil {
		c.t.Errorf("%s answered %d: %s", c.r.URL.Path, recorder.Code, recorder.Body)
		return false
	}
	change(answer.Meta)
	c.w.Header().Set("Content-Type", "application/json")
	c.w.WriteHeader(http.StatusUnprocessableEntity)
	refusal := map[string]any{"code": 422, "message": "it is heavy", "estimate": answer.Meta["estimate"], "fits": answer.Meta["fits"]}
	if err := json.NewEncoder(c.w).Encode(refusal); err != nil {
		c.t.Error(err)
	}
	return true
}

// costly makes the estimate of an answer one of a heavy question.
func costly(meta map[string]any) {
	meta["estimate"].(map[string]any)["cost_usd"] = map[string]any{"low": 1.5, "high": 2}
}

// large makes the estimate of an answer one of a question that reads much.
func large(meta map[string]any) {
	meta["estimate"].(map[string]any)["bytes"] = map[string]any{"low": 1, "high": 2e9}
}

// skipped says that the answer is without an object.
func skipped(meta map[string]any) { meta["skipped"] = []string{"fresh/2026/01/01/10/a.parquet"} }

// unchanged leaves the meta of an answer as it is.
func unchanged(map[string]any) {}

// heavy makes the questions to some data routes heavy, or all of them.
func heavy(routes ...string) func(c *call) bool {
	return func(c *call) bool { return c.weighs(costly, routes...) }
}

// fails lets the questions to a data route fail.
func fails(route string) func(c *call) bool {
	return func(c *call) bool { return c.question(route) && c.fail() }
}

// refuses refuses what is sent to a path that ends so.
func refuses(suffix string, status int, message string) func(c *call) bool {
	return func(c *call) bool { return c.to(suffix) && c.refuse(status, message) }
}

// gone is a server that does not answer.
func gone(c *call) bool { return c.hangUp() }

// holdsWrites holds the requests that replace something until letsWrite. writes waits for the next one.
func holdsWrites() step {
	return stepOf(func(b *tab) {
		begun, end := make(chan struct{}, 2), make(chan struct{})
		b.begun, b.end = begun, end
		b.s.answer(func(c *call) bool {
			if c.writes() {
				begun <- struct{}{}
				<-end
			}
			return false
		})
	}, "holds writes")
}

func writes() step { return stepOf(func(b *tab) { b.do(receives(b.begun)) }, "writes") }

func letsWrite() step { return stepOf(func(b *tab) { close(b.end) }, "lets write") }

// needsKey refuses every call of the API that has not the key.
func needsKey(key string) func(c *call) bool {
	return func(c *call) bool {
		return c.api() && c.r.Header.Get("Authorization") != "Bearer "+key &&
			c.refuse(http.StatusUnauthorized, "an API key is needed")
	}
}

// read reads the body of a call, and leaves it to be read again.
func (c *call) read() error {
	if c.r.Body == nil || !c.api() {
		return nil
	}
	text, err := io.ReadAll(c.r.Body)
	if err != nil {
		return err
	}
	c.r.Body = io.NopCloser(bytes.NewReader(text))
	log := c.r.Header.Get("Content-Type") == "application/octet-stream"
	if c.r.Method == http.MethodPost && len(text) > 0 && !log {
		if err := json.Unmarshal(text, &c.body); err != nil {
			c.t.Errorf("%s: %v", c.r.URL.Path, err)
		}
	}
	return nil
}
