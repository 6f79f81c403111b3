package main

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/shared/geoip/geoiptest"
)

func TestImportWithPlacesOfClients(t *testing.T) {
	dir := t.TempDir()
	log, database := filepath.Join(dir, "access.log"), filepath.Join(dir, "cities.mmdb")
	const line = `203.0.113.7 - - [17/May/2026:10:05:03 +0000] "GET / HTTP/1.1" 200 1` + "\n"
	if err := os.WriteFile(log, []byte(line), 0o644); err != nil {
		t.Fatal(err)
	}
	geoiptest.Write(t, database, map[netip.Prefix]any{
		netip.MustParsePrefix("203.0.113.0/24"): map[string]any{
			"country": map[string]any{"names": map[string]any{"en": "France"}},
		},
	})
	data := filepath.Join(dir, "data")
	if _, stderr, code := orrery(t, "", "import", "--data", data, "--geoip", database, log); code != exit.Done {
		t.Fatal(stderr)
	}
	stdout, stderr, _ := orrery(t, "", "query", "logs", "--data", data, "--format", "ndjson", "--fields", "country",
		"timestamp between 2026-05-17 and 2026-05-18")
	if !strings.Contains(stdout, `{"country":"France"}`) {
		t.Errorf("%s\n%s", stdout, stderr)
	}
	if _, stderr, code := orrery(t, "", "import", "--data", data, "--geoip", log, log); code == exit.Done ||
		!strings.Contains(stderr, "access.log is not a database of MaxMind") {
		t.Errorf("%d: %s", code, stderr)
	}
}
