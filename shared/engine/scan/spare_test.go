package scan

import (
	"sync"
	"testing"

	"github.com/orrery/orrery/shared/engine"
)

// TestSpareMemory: columns that are too large to be kept take no memory from others, not even for a moment.
func TestSpareMemory(t *testing.T) {
	const most = 1000
	r := &run{memory: most, shared: engine.NewMemory(1<<20, 1<<20)}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range most {
				if r.spare(most+1, most) {
					t.Error("it keeps more than it may")
				}
			}
		})
		group.Go(func() {
			for range most / 4 {
				if !r.spare(1, most) {
					t.Error("there is memory, but it is refused")
				}
			}
		})
	}
	group.Wait()
	if used, taken := r.used.Load(), r.taken.Load(); used != most || taken != most || r.spare(1, most) {
		t.Errorf("%d bytes are used, %d are taken", used, taken)
	}
}

// TestSpareMemoryOfOthers: memory that other queries use is not kept, and not counted.
func TestSpareMemoryOfOthers(t *testing.T) {
	r := &run{memory: 100, shared: engine.NewMemory(10, 10)}
	if r.spare(11, 100) || r.used.Load() != 0 || r.taken.Load() != 0 {
		t.Errorf("%d bytes are used", r.used.Load())
	}
}
