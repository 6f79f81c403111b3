package record

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/lake"
)

// TestDecoderReleasesRows checks that a decoder does not keep the texts of rows in memory. An import of records of
// 90 kB once kept all of them, because short interned texts shared chunks with the long ones.
func TestDecoderReleasesRows(t *testing.T) {
	const records, most = 1500, 16 << 20
	for _, size := range []int{900, 4_000, 60_000} {
		t.Run(fmt.Sprintf("texts of %d bytes", size), func(t *testing.T) {
			d := NewDecoder()
			before := heap()
			for i := range records {
				agent := strings.Repeat("x", size)
				line := fmt.Sprintf(`{"timestamp":1,"request_id":"r%d","host":"h%d","user_agent":"%d%s"}`,
					i, i, i, agent)
				if _, err := d.Decode([]byte(line), &lake.Row{}); err != nil {
					t.Fatal(err)
				}
			}
			if grown := heap() - before; grown > most {
				t.Errorf("the decoder keeps %d bytes", grown)
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
