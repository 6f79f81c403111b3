package main

import "runtime/debug"

// What an import may use. Rows live briefly, so that collecting half as often pays, as long as the limit holds the
// process under 768 MB.
const (
	importLimit = 600 << 20 // bytes
	importGC    = 200       // percent
)

// forImport tunes the garbage collector for an import and returns what undoes it.
func forImport() (undo func()) {
	limit, percent := debug.SetMemoryLimit(importLimit), debug.SetGCPercent(importGC)
	return func() {
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(percent)
	}
}
