//go:build race

package enginetest

// filtersByDefault is fewer, for the race detector makes each about ten times slower.
const filtersByDefault = 300
