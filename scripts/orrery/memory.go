package main

import "runtime/debug"

// The memory settings of an import. Rows are short-lived, so it pays to collect garbage half as often, as long as the
// limit keeps the process under 768 MB.
const (
	importLimit = 600 << 20 // bytes
	importGC    = 200       // percent
)

// forImport tunes the garbage collector for an import and returns a function that restores its settings.
func forImport() (undo func()) {
	limit, percent := debug.SetMemoryLimit(importLimit), debug.SetGCPercent(importGC)
	return func() {
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(percent)
	}
}
