package representation

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/content/contenttest"
	"github.com/orrery/orrery/shared/search"
)

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
		for _, e := range []content.Coding{content.Identity, content.Gzip, content.Zstd} {
			t.Run(strings.TrimSpace(name+" "+string(e)), func(t *testing.T) {
				records := make([]json.RawMessage, kind.count)
				for i := range records {
					records[i] = content.Encode(map[string]string{"v": kind.record(i)})
				}
				sent, _ := logsBody(e, newJSONLayout, textRecords(records), search.Meta{Filter: "f"}, limit)
				if len(sent) > limit {
					t.Fatalf("%d bytes are sent", len(sent))
				}
				var got struct {
					Data struct{ Results []json.RawMessage }
					Meta search.Meta
				}
				if err := json.Unmarshal(contenttest.Decompress(t, e, sent), &got); err != nil {
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
	e content.Coding, newLayout func() layout, found Records, meta search.Meta, limit int,
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

// TestRecordsAreEncodedWithinBounds: few bytes are encoded before they are needed, also if the first record is short
// and the others are long.
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

// TestTableStopsAtTheLimit: a table or lines within the limit have the first records, and the headers show that others
// are missing.
func TestTableStopsAtTheLimit(t *testing.T) {
	const limit = 20_000
	records := make(textRecords, 200)
	for i := range records {
		records[i] = content.Encode(map[string]string{"v": fmt.Sprintf("=%d \"%s\"", i, strings.Repeat(`"`, 100))})
	}
	for _, mediaType := range []string{content.CSV, content.NDJSON} {
		for _, e := range []content.Coding{content.Identity, content.Gzip} {
			t.Run(strings.TrimSpace(mediaType+" "+string(e)), func(t *testing.T) {
				as := Choice{MediaType: mediaType}
				meta := search.Meta{Period: search.MetaPeriod{From: "2026-01-01T20:00:00Z", To: "2026-01-02T22:00:00Z"}}
				newLayout := func() layout { return layoutFor(as, search.Logs, []string{"v"}, "") }
				sent, meta := logsBody(e, newLayout, records, meta, limit)
				if len(sent) > limit {
					t.Fatalf("%d bytes are sent", len(sent))
				}
				text := string(contenttest.Decompress(t, e, sent))
				n := strings.Count(text, "\n")
				if mediaType == content.CSV {
					n--
				}
				if !strings.HasSuffix(text, "\n") || !strings.Contains(text, fmt.Sprintf("=%d ", n-1)) {
					t.Errorf("%d records, then %q", n, text[len(text)-20:])
				}
				if e == content.Gzip {
					if n != len(records) || meta.Truncated != nil {
						t.Errorf("%d records, truncated %v", n, meta.Truncated)
					}
					return
				}
				header := http.Header{}
				as.SetHeaders(header, search.Logs, meta)
				name := `attachment; filename="orrery-logs-20260101T2000-20260102T2200-incomplete.`
				if !strings.HasPrefix(header.Get("Content-Disposition"), name) ||
					header.Get("X-Orrery-Truncated") != "bytes" || n >= len(records) {
					t.Errorf("%d records, headers %v", n, header)
				}
			})
		}
	}
}
