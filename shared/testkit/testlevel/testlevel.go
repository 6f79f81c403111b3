// Package testlevel tells tests how much to try. There are three levels: -short, for the race detector and while
// programming; the ordinary one, for every change; and the long one of scripts/release.sh.
package testlevel

import (
	"os"
	"testing"
)

// Of returns the value of the level at which tests run. The long one is asked for with ORRERY_TEST_LONG=1.
func Of[T any](short, ordinary, long T) T {
	switch {
	case os.Getenv("ORRERY_TEST_LONG") != "":
		return long
	case testing.Short():
		return short
	}
	return ordinary
}
