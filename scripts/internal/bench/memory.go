package bench

import (
	"bytes"
	"os"
	"runtime/debug"
	"strconv"
)

// memory measures the peak resident memory of this process.
type memory struct {
	known bool
	start int64 // resident memory in bytes at the start
}

// watchMemory starts a measurement: it returns free memory to the system and resets the kernel's peak. Only Linux can
// reset it, so nothing is measured on other systems.
func watchMemory() memory {
	debug.FreeOSMemory()
	m := memory{known: os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) == nil}
	m.start = m.peak()
	return m
}

// growth returns by how many bytes the peak since then exceeds the memory at the start, or 0 if it is unknown.
func (m memory) growth() int64 { return m.peak() - m.start }

// peak returns the peak since then in bytes, or 0 if it is unknown.
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
