//go:build !race

package enginetest

// filtersByDefault is how many generated filters an engine is compared on.
const filtersByDefault = 2_000
