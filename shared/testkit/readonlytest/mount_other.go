//go:build !linux

package readonlytest

import "testing"

// mountReadOnly skips the test.
func mountReadOnly(t testing.TB, _ string) {
	t.Helper()
	t.Skip("root may write to every folder")
}

// runAsNobody skips the test.
func runAsNobody(t *testing.T) { t.Skip("only tested on Linux") }
