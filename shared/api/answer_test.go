package api

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/content/contenttest"
	"github.com/orrery/orrery/shared/api/examples"
	"github.com/orrery/orrery/shared/api/service"
	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/search"
)

// TestRefusedEncodings: a client that refuses the answer as it is gets it compressed, however short it is, and one that
// refuses every form gets an error that names the forms.
func TestRefusedEncodings(t *testing.T) {
	s := newTestServer(t)
	const path = "/api/v4.0/conf/prod/planets/__default__/versions"
	plain := s.send(t, get(path))
	only := s.send(t, get(path, "Accept-Encoding: gzip, identity;q=0"))
	if got := only.Header.Get("Content-Encoding"); got != "gzip" {
		t.Fatalf("%s, Content-Encoding %q", only.Status, got)
	}
	if !bytes.Equal(contenttest.Decompress(t, content.Gzip, only.body), plain.body) {
		t.Errorf("%s", only.body)
	}
	for _, refusing := range []string{"*;q=0", "identity;q=0", "br, *;q=0"} {
		r := s.send(t, get(path, "Accept-Encoding: "+refusing))
		if r.StatusCode != http.StatusNotAcceptable || !bytes.Contains(r.body, []byte("Accept-Encoding refuses")) {
			t.Errorf("%s: %s %s", refusing, r.Status, r.body)
		}
	}
}

func TestCompression(t *testing.T) {
	s := newTestServer(t)
	bare := s.send(t, get("/api/v4.0/data/fields")).body
	for _, e := range []content.Coding{content.Zstd, content.Gzip} {
		r := s.send(t, get("/api/v4.0/data/fields", "Accept-Encoding: "+string(e)))
		sent := r.body
		if got := r.Header.Get("Content-Encoding"); got != string(e) {
			t.Errorf("%s: header %q", e, got)
		}
		if !bytes.Equal(contenttest.Decompress(t, e, sent), bare) || len(sent) > len(bare)/2 {
			t.Errorf("%s: %d of %d bytes", e, len(sent), len(bare))
		}
	}
	if r := s.send(t, get(service.HealthPath, "Accept-Encoding: gzip")); r.Header.Get("Content-Encoding") != "" {
		t.Error("a few bytes were compressed")
	}
}

const (
	putPlanetHead = "PUT /api/v4.0/conf/prod/planets/__default__ HTTP/1.1\n" +
		"Host: localhost\nContent-Type: application/json"
	planetFormat = `{"name":"p","trusted_nets":[],` +
		`"ichallenge":{"attrs":{"logo":"%s"},"lang":{},"palette":[],"position":{}}}`
)

func TestETagOfCompressedPlanetIsValidForWriting(t *testing.T) {
	s := newTestServer(t)
	big := fmt.Sprintf(planetFormat, strings.Repeat("logo ", 1000))
	write := func(etag string) reply {
		return s.send(t, examples.Message{Head: putPlanetHead + "\nIf-Match: " + etag, Body: big})
	}
	if r := write("*"); r.StatusCode != http.StatusOK {
		t.Fatal(r.Status)
	}
	r := s.send(t, get("/api/v4.0/conf/prod/planets", "Accept-Encoding: gzip"))
	etag, read := r.Header.Get("ETag"), contenttest.Decompress(t, content.Gzip, r.body)
	if !strings.HasSuffix(etag, `-gzip"`) || !bytes.Contains(read, []byte(`{"id":"__default__","name":"p"`)) {
		t.Fatalf("ETag %s, body %s", etag, read)
	}
	for sent, want := range map[string]string{
		etag:                    etag,
		`"0-other", W/` + etag:  "W/" + etag,
		content.PlainETag(etag): content.PlainETag(etag),
		"*":                     content.PlainETag(etag),
	} {
		r := s.send(t, get("/api/v4.0/conf/prod/planets", "Accept-Encoding: gzip", "If-None-Match: "+sent))
		if got := r.Header.Get("ETag"); r.StatusCode != http.StatusNotModified || got != want {
			t.Errorf("read again with %s: %s, ETag %s, want %s", sent, r.Status, got, want)
		}
	}
	if r := write(etag); r.StatusCode != http.StatusOK {
		t.Errorf("written with the ETag read: %s", r.Status)
	}
	if r := write(etag); r.StatusCode != http.StatusPreconditionFailed {
		t.Errorf("written again with it: %s", r.Status)
	}
}

func TestTooLargeAnswerIsAnErrorWithAdvice(t *testing.T) {
	h := &searchSpy{}
	hostname := strings.Repeat("h", 200)
	for i := range 20_000 {
		result := search.StatsResult{TimePeriod: int64(i), Hostname: &hostname}
		h.finds.Stats = append(h.finds.Stats, result)
	}
	s := newServer(t, func(c *Config) { c.Search = h })
	r := s.send(t, get("/api/v4.0/data/stats?filters=x"))
	advised := bytes.Contains(r.body, []byte("Accept-Encoding: gzip"))
	if r.StatusCode != http.StatusUnprocessableEntity || !advised {
		t.Errorf("%s %.300s", r.Status, r.body)
	}
	r = s.send(t, get("/api/v4.0/data/stats?filters=x", "Accept-Encoding: gzip"))
	if r.StatusCode != http.StatusOK {
		t.Errorf("compressed, it is small enough, but the answer is %s", r.Status)
	}
}

func TestPlanetLimitFitsTheBody(t *testing.T) {
	s := newTestServer(t)
	for size, want := range map[int]int{planet.MaxBytes: 200, planet.MaxBytes + 1: 413} {
		text := fmt.Sprintf(planetFormat, strings.Repeat("x", size-len(planetFormat)+2))
		r := s.send(t, examples.Message{Head: putPlanetHead, Body: text})
		if r.StatusCode != want {
			t.Errorf("%d bytes: %s, want %d", len(text), r.Status, want)
		}
	}
}

func BenchmarkTopXAnswer(b *testing.B) {
	h := &searchSpy{}
	half := 0.5
	for i := range 600 {
		h.finds.TopX = append(h.finds.TopX, search.TopXResult{
			Label:         "url",
			Key:           fmt.Sprint("shop.example/product/", i),
			AvgOriginTime: &half,
			AvgTotalTime:  &half,
			NumOfRequests: int64(i),
		})
	}
	handler := newHandler(b, Config{
		Search: h, Planets: noPlanets{}, Documents: noFilters{}, Log: slog.New(slog.DiscardHandler), Now: time.Now,
		Status: installed{},
	})
	for b.Loop() {
		r := httptest.NewRequest("GET", "http://localhost/api/v4.0/data/topx?filters=x", nil)
		handler.ServeHTTP(httptest.NewRecorder(), r)
	}
}

type noPlanets struct{ document.Store }

type noFilters struct{ document.Store }
