// Package memory limits the memory of commands that make much garbage.
package memory

import (
	"runtime"
	"runtime/debug"
)

// The memory settings of an import. Rows are short-lived, so it pays to collect garbage half as often, as long as the
// limit keeps the process under 768 MB.
const (
	importLimit = 600 << 20 // bytes
	importGC    = 200       // percent
)

// ForImport tunes the garbage collector for an import or a compaction and returns a function that restores its
// settings.
func ForImport() (undo func()) {
	limit, percent := debug.SetMemoryLimit(importLimit), debug.SetGCPercent(importGC)
	return func() {
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(percent)
	}
}

// Merge is the memory of a merge of objects, in bytes, that fits into the limit of an import.
const Merge = 448 << 20

// The memory of an export and of a report in bytes, besides what the process has anyway. Most of it is garbage: the
// records of pages that were printed, and the columns of questions that were answered.
const (
	Export = 320 << 20
	Report = 192 << 20
)

// Limit limits the memory that the process takes from now on and returns a function that restores the limit.
func Limit(bytes int64) (undo func()) {
	runtime.GC() // what pools hold is garbage in the second collection
	debug.FreeOSMemory()
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	limit := debug.SetMemoryLimit(int64(now.Sys-now.HeapReleased) + bytes)
	return func() { debug.SetMemoryLimit(limit) }
}
