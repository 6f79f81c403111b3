package bench

import (
	"bytes"
	"os"
	"runtime/debug"
	"strconv"
)

// memory measures the peak resident memory of this process over a stretch of time.
type memory struct{ known bool }

// watchMemory begins a stretch: what is free goes back to the system, and the kernel forgets its peak. Systems
// other than Linux do not forget, and nothing is measured there.
func watchMemory() memory {
	debug.FreeOSMemory()
	return memory{known: os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) == nil}
}

// peak is the most the process has had since, in bytes; 0 when that is unknown.
func (m memory) peak() int64 {
	if !m.known {
		return 0
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, found := bytes.Cut(status, []byte("VmHWM:"))
	fields := bytes.Fields(rest)
	if !found || len(fields) == 0 {
		return 0
	}
	kilobytes, err := strconv.ParseInt(string(fields[0]), 10, 64)
	if err != nil {
		return 0
	}
	return kilobytes << 10
}
