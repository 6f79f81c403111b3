// Package planettest has planets for tests.
package planettest

import (
	"fmt"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/planet"
)

// At is the time of writes.
var At = time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)

// Settings returns valid settings with a name, and with contents that must be kept byte for byte.
func Settings(t testing.TB, name string) planet.Settings {
	t.Helper()
	s, err := planet.Parse(fmt.Appendf(nil, `{"name": %q, "trusted_nets": [], "ichallenge": {`+
		`"attrs": {"z":1.0, "a":1e2, "quote":"it's \"\u0000\""}, "lang": {}, "palette": ["#fff"], "position": {}}, `+
		`"newer": [null]}`, name))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Version returns a version with these settings.
func Version(t testing.TB, number int, name, by string) document.Version {
	t.Helper()
	return document.NewVersion(number, Settings(t, name).Text(), by, At)
}

// Change returns the change that writes these settings.
func Change(t testing.TB, name, by string) document.Change {
	t.Helper()
	return document.Change{Text: Settings(t, name).Text(), By: by, At: At}
}
