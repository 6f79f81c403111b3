package ingest

import (
	"runtime"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/lake"
)

// TestOverlapKeepsNoTexts: the memory of the first records of a log does not depend on their texts.
func TestOverlapKeepsNoTexts(t *testing.T) {
	o := overlap{hours: map[lake.Partition]struct{}{}}
	const length = 40_000
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range overlapRecords {
		agent := strings.Repeat(string(rune('a'+i%26)), length)
		o.add([]lake.Row{{TsMs: int64(i), UserAgent: &agent}})
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > overlapRecords*length/10 {
		t.Errorf("%d bytes are kept", kept)
	}
	runtime.KeepAlive(&o)
}
