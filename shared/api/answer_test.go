package api

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/search"
)

func TestAcceptedCodings(t *testing.T) {
	for accept, want := range map[string]acceptedCodings{
		"":                               {identity, true},
		"gzip":                           {gzipEncoding, true},
		"gzip, deflate, br, zstd":        {zstdEncoding, true},
		"GZIP;q=0.8, zstd;q=0.5":         {gzipEncoding, true},
		"gzip;q=0":                       {identity, true},
		"*":                              {zstdEncoding, true},
		"*;q=0.1, zstd;q=0":              {gzipEncoding, true},
		"identity, gzip;q=0.5":           {identity, true},
		"identity;q=0.5, gzip":           {gzipEncoding, true},
		"br":                             {identity, true},
		"gzip;q=x":                       {identity, true},
		"gzip;q=7":                       {identity, true},
		"gzip;;":                         {identity, true},
		"identity;q=0":                   {identity, false},
		"*;q=0":                          {identity, false},
		"*;q=0, identity":                {identity, true},
		"br, *;q=0":                      {identity, false},
		"gzip, *;q=0":                    {gzipEncoding, false},
		"zstd;q=0.5, gzip, identity;q=0": {gzipEncoding, false},
	} {
		if got := codingsOf([]string{accept}); got != want {
			t.Errorf("Accept-Encoding %q: %+v, want %+v", accept, got, want)
		}
	}
}

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
	if !bytes.Equal(decompress(t, gzipEncoding, only.body), plain.body) {
		t.Errorf("%s", only.body)
	}
	for _, refusing := range []string{"*;q=0", "identity;q=0", "br, *;q=0"} {
		r := s.send(t, get(path, "Accept-Encoding: "+refusing))
		if r.StatusCode != http.StatusNotAcceptable || !bytes.Contains(r.body, []byte("Accept-Encoding refuses")) {
			t.Errorf("%s: %s %s", refusing, r.Status, r.body)
		}
	}
}

func TestNegotiate(t *testing.T) {
	for accept, want := range map[string]string{
		"application/json":                   jsonType,
		"*/*":                                jsonType,
		"text/*":                             textType,
		"text/plain, application/json;q=0.9": textType,
		"text/html,application/xhtml+xml,*/*;q=0.8": jsonType,
		"application/json;q=0, */*":                 textType,
		"application/xml":                           "",
		"application/json; charset=utf-8":           jsonType,
	} {
		if got := negotiate([]string{accept}, jsonType, textType); got != want {
			t.Errorf("Accept %q: %q, want %q", accept, got, want)
		}
	}
}

func TestCompression(t *testing.T) {
	s := newTestServer(t)
	bare := s.send(t, get("/api/v4.0/data/fields")).body
	for _, e := range encodings {
		r := s.send(t, get("/api/v4.0/data/fields", "Accept-Encoding: "+string(e)))
		sent := r.body
		if got := r.Header.Get("Content-Encoding"); got != string(e) {
			t.Errorf("%s: header %q", e, got)
		}
		if !bytes.Equal(decompress(t, e, sent), bare) || len(sent) > len(bare)/2 {
			t.Errorf("%s: %d of %d bytes", e, len(sent), len(bare))
		}
	}
	if r := s.send(t, get(healthPath, "Accept-Encoding: gzip")); r.Header.Get("Content-Encoding") != "" {
		t.Error("a few bytes were compressed")
	}
}

func decompress(t testing.TB, e encoding, sent []byte) []byte {
	t.Helper()
	var from io.Reader = bytes.NewReader(sent)
	var err error
	switch e {
	case gzipEncoding:
		from, err = gzip.NewReader(from)
	case zstdEncoding:
		from, err = zstd.NewReader(from)
	}
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	return body
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
		return s.send(t, message{head: putPlanetHead + "\nIf-Match: " + etag, body: big})
	}
	if r := write("*"); r.StatusCode != http.StatusOK {
		t.Fatal(r.Status)
	}
	r := s.send(t, get("/api/v4.0/conf/prod/planets", "Accept-Encoding: gzip"))
	etag, read := r.Header.Get("ETag"), decompress(t, gzipEncoding, r.body)
	if !strings.HasSuffix(etag, `-gzip"`) || !bytes.Contains(read, []byte(`{"id":"__default__","name":"p"`)) {
		t.Fatalf("ETag %s, body %s", etag, read)
	}
	for sent, want := range map[string]string{
		etag:                   etag,
		`"0-other", W/` + etag: "W/" + etag,
		plainETag(etag):        plainETag(etag),
		"*":                    plainETag(etag),
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

// TestLogsStopAtTheLimit: for all records and codings, the answer is valid JSON within the limit, has the first records
// in order, comes close to the limit, and has the cursor of the first record that is not sent.
func TestLogsStopAtTheLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	const limit = 100_000
	random := rand.New(rand.NewPCG(1, 2))
	alike := func(i int) string { return fmt.Sprint("request ", i, strings.Repeat(" the same", 200)) }
	noise := func(int) string {
		b := make([]byte, 1+random.IntN(3000))
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		return base64.StdEncoding.EncodeToString(b)
	}
	kinds := map[string]struct {
		record func(int) string
		count  int
		least  int // minimum of bytes sent, when it stops
	}{
		"alike":            {alike, 60_000, limit * 9 / 10},
		"noise":            {noise, 400, limit - 3*4096},
		"one is too large": {func(int) string { return strings.Repeat("x", 2*limit) }, 3, 0},
		"few":              {noise, 3, 0},
	}
	for name, kind := range kinds {
		for _, e := range []encoding{identity, gzipEncoding, zstdEncoding} {
			t.Run(strings.TrimSpace(name+" "+string(e)), func(t *testing.T) {
				records := make([]json.RawMessage, kind.count)
				for i := range records {
					records[i] = encode(map[string]string{"v": kind.record(i)})
				}
				sent, _ := logsBody(e, newJSONLayout, textRecords(records), search.Meta{Filter: "f"}, limit)
				if len(sent) > limit {
					t.Fatalf("%d bytes are sent", len(sent))
				}
				var got Container[json.RawMessage]
				if err := json.Unmarshal(decompress(t, e, sent), &got); err != nil {
					t.Fatal(err)
				}
				n := len(got.Data.Results)
				equal := func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }
				if !slices.EqualFunc(records[:n], got.Data.Results, equal) {
					t.Error("the records differ")
				}
				stopped := got.Meta.Truncated != nil && got.Meta.Truncated.Reason == "bytes"
				if stopped != (n < len(records)) {
					t.Errorf("%d of %d records, truncated %+v", n, len(records), got.Meta.Truncated)
				}
				if next := got.Meta.Next; stopped && n > 0 && (next == nil || **next != fmt.Sprint("after ", n)) {
					t.Errorf("the cursor after %d records is %v", n, next)
				}
				if stopped && len(sent) < kind.least {
					t.Errorf("stopped at %d bytes of %d", len(sent), limit)
				}
			})
		}
	}
}

// logsBody returns what writeLogs writes.
func logsBody(
	e encoding, newLayout func() layout, found records, meta search.Meta, limit int,
) ([]byte, search.Meta) {
	var out bytes.Buffer
	meta = writeLogs(&out, e, newLayout, found, meta, limit)
	return out.Bytes(), meta
}

// textRecords are records that are already encoded.
type textRecords []json.RawMessage

func (p textRecords) Len() int                            { return len(p) }
func (p textRecords) AppendJSON(dst []byte, i int) []byte { return append(dst, p[i]...) }
func (p textRecords) Size(i int) int                      { return len(p[i]) }
func (p textRecords) LongestNext() int                    { return len("after 60000") }

func (p textRecords) Next(n int) *string {
	next := fmt.Sprint("after ", n)
	return &next
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

func TestLongKeysAreCut(t *testing.T) {
	long := strings.Repeat("é", 1025)
	results := []search.TopXResult{{Key: long}, {Key: long + "x"}, {Key: long[:2*1024]}, {Key: "short"}}
	shortenKeys(results)
	for i, cut := range []bool{true, true, false, false} {
		if n := len([]rune(results[i].Key)); results[i].KeyTruncated != cut || n > maxKey {
			t.Errorf("key %d: %d characters, truncated %v", i, n, results[i].KeyTruncated)
		}
	}
	if results[0].Key == results[1].Key {
		t.Error("two keys became one")
	}
	if results[2].Key != long[:2*1024] || results[3].Key != "short" {
		t.Error("a key that fits was changed")
	}
}

func TestPlanetLimitFitsTheBody(t *testing.T) {
	s := newTestServer(t)
	for size, want := range map[int]int{planet.MaxBytes: 200, planet.MaxBytes + 1: 413} {
		text := fmt.Sprintf(planetFormat, strings.Repeat("x", size-len(planetFormat)+2))
		r := s.send(t, message{head: putPlanetHead, body: text})
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

func TestLongFindingsAreCut(t *testing.T) {
	results := []search.DiffResult{
		{Value: strings.Repeat("ä", maxKey), Condition: "c", Excluded: "e"},
		{Value: strings.Repeat("ä", maxKey+1), Condition: "c", Excluded: "e"},
		{Value: int64(7), Condition: "c", Excluded: "e"},
	}
	shortenFindings(results)
	for i, cut := range []bool{false, true, false} {
		r := results[i]
		text, _ := r.Value.(string)
		if r.ValueTruncated != cut || (r.Condition == "") != cut || (r.Excluded == "") != cut ||
			utf8.RuneCountInString(text) > maxKey {
			t.Errorf("result %d is %+v", i, r)
		}
	}
}

type noFilters struct{ document.Store }

func newJSONLayout() layout { return &jsonLayout{} }

// damagedRecords cannot be encoded from some record on.
type damagedRecords struct {
	textRecords
	from int
}

func (r damagedRecords) AppendJSON(dst []byte, i int) []byte {
	if i >= r.from {
		panic("damaged")
	}
	return r.textRecords.AppendJSON(dst, i)
}

// TestLaidOutRecords: goroutines encode blocks of records, and the records are in their order.
func TestLaidOutRecords(t *testing.T) {
	var records textRecords
	var want []string
	for i := range 2_500 {
		text := fmt.Sprintf(`"%d %s"`, i, strings.Repeat("x", i%1_000))
		records, want = append(records, json.RawMessage(text)), append(want, ","+text)
	}
	want[0] = want[0][1:]
	t.Run("all are in their order", func(t *testing.T) {
		l := layOut(newJSONLayout, records)
		defer l.stop()
		for i := range want {
			if got := string(l.next()); got != want[i] {
				t.Fatalf("record %d is %q, want %q", i, got, want[i])
			}
		}
	})
	t.Run("a panic of the encoding reaches the caller", func(t *testing.T) {
		l := layOut(newJSONLayout, damagedRecords{records, 2_000})
		defer l.stop()
		read := 0
		defer func() {
			if cause := recover(); cause != "damaged" || read == 0 || read > 2_000 {
				t.Errorf("%v after %d records", cause, read)
			}
		}()
		for range want {
			l.next()
			read++
		}
	})
	t.Run("nothing waits for a reader that stops", func(t *testing.T) {
		l := layOut(newJSONLayout, records)
		l.next()
		l.stop()
		for range l.blocks { // until encode closes it
		}
	})
}

// countedRecords counts the bytes of the records that have been encoded.
type countedRecords struct {
	textRecords
	bytes atomic.Int64
}

func (r *countedRecords) AppendJSON(dst []byte, i int) []byte {
	r.bytes.Add(int64(len(r.textRecords[i])))
	return r.textRecords.AppendJSON(dst, i)
}

// TestRecordsAreEncodedWithinBounds: few bytes are encoded before they are needed, also if the first record is short and
// the others are long.
func TestRecordsAreEncodedWithinBounds(t *testing.T) {
	const long = 100_000
	found := &countedRecords{textRecords: textRecords{[]byte("{}")}}
	for range 1_000 {
		found.textRecords = append(found.textRecords, []byte(`"`+strings.Repeat("x", long)+`"`))
	}
	synctest.Test(t, func(t *testing.T) {
		l := layOut(newJSONLayout, found)
		l.next()
		synctest.Wait()
		blocks := int64(runtime.GOMAXPROCS(0) + 2) // in the channel, taken, and to be sent
		if bytes, most := found.bytes.Load(), blocks*2*long; bytes > most {
			t.Errorf("%d bytes are encoded, want at most %d", bytes, most)
		}
		l.stop()
	})
}
