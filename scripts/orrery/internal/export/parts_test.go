package export

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
)

// countedRecords are records of which a test counts the bytes that are in use.
type countedRecords struct{ first, count int }

func (r countedRecords) Len() int { return r.count }

func (r countedRecords) AppendJSON(dst []byte, i int) []byte {
	return fmt.Appendf(dst, `{"request_id":"%032d"}`, r.first+i)
}

// watchedOutput counts the parts that were printed, and measures the memory in use after the first ones and after the
// last one.
type watchedOutput struct {
	last          int // the number of parts
	printed       atomic.Int64
	bytes         int64
	early, latest uint64
}

func (w *watchedOutput) Write(text []byte) (int, error) {
	w.bytes += int64(len(text))
	switch w.printed.Add(1) {
	case 20:
		w.early = memoryInUse()
	case int64(w.last):
		w.latest = memoryInUse()
	}
	return len(text), nil
}

func memoryInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestQueryAllHoldsAFewParts: however many records there are, only a few parts are read before they are printed, and
// those that were printed take no memory.
func TestQueryAllHoldsAFewParts(t *testing.T) {
	const records = 2500 // of a part
	for _, parts := range []int{40, 400} {
		t.Run(fmt.Sprintf("%d parts", parts), func(t *testing.T) {
			out := &watchedOutput{last: parts}
			var most int64 // of the parts that were read and not printed
			source := func(_ context.Context, _ map[string]any, visit func(part) error) error {
				for i := range int64(parts) {
					p := part{records: countedRecords{int(i) * records, records}}
					next := `,"next":"more"`
					if i == int64(parts)-1 {
						next = `,"next":null`
					}
					if err := p.readMeta([]byte(`{"period":{}` + next + `}`)); err != nil {
						return err
					}
					most = max(most, i+1-out.printed.Load())
					if err := visit(p); err != nil {
						return err
					}
				}
				return nil
			}
			c := terminal.Console{Out: out, Err: &bytes.Buffer{}}
			if _, _, err := Print(t.Context(), c, source, map[string]any{}, Lines{}); err != nil {
				t.Fatal(err)
			}
			if want := int64(parts) * records * int64(len(`{"request_id":""}`)+32+1); out.bytes != want {
				t.Errorf("%d bytes are printed, want %d", out.bytes, want)
			}
			// One part is read, some are encoded, and one is printed.
			if most > maxAhead+2 {
				t.Errorf("%d parts were read and not printed; at most %d are ahead", most, maxAhead)
			}
			if parts == 400 && out.latest > out.early+uint64(out.bytes)/4 {
				t.Errorf("%d bytes are in use after 20 parts, %d after %d: of %d bytes that were printed",
					out.early, out.latest, parts, out.bytes)
			}
		})
	}
}
