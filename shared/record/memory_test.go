package record

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/lake"
)

// TestDecoder_lets_go_of_rows_nobody_holds: an import of records of 90 kB held all of their texts, because short ones
// that are handed out again lay in chunks with the long ones.
func TestDecoder_lets_go_of_rows_nobody_holds(t *testing.T) {
	const records, most = 1500, 16 << 20
	for _, size := range []int{900, 4_000, 60_000} {
		t.Run(fmt.Sprint("texts_of_", size), func(t *testing.T) {
			d := NewDecoder()
			before := heap()
			for i := range records {
				line := fmt.Sprintf(`{"timestamp":1,"request_id":"r%d","host":"h%d","user_agent":"%d%s"}`, i, i, i, strings.Repeat("x", size))
				if _, err := d.Decode([]byte(line), &lake.Row{}); err != nil {
					t.Fatal(err)
				}
			}
			if grown := heap() - before; grown > most {
				t.Errorf("%d bytes are still held", grown)
			}
			runtime.KeepAlive(d)
		})
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
