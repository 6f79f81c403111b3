package zone_test

import (
	"archive/zip"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/zone"
)

// TestMain runs the tests on a machine with wrong zones.
func TestMain(m *testing.M) {
	code := func() int {
		folder, err := os.MkdirTemp("", "zones-")
		if err != nil {
			panic(err)
		}
		defer func() { _ = os.RemoveAll(folder) }()
		if err := os.Mkdir(filepath.Join(folder, "Europe"), 0o700); err != nil {
			panic(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "Europe", "Berlin"), utc, 0o600); err != nil {
			panic(err)
		}
		if err := os.Setenv("ZONEINFO", folder); err != nil {
			panic(err)
		}
		return m.Run()
	}()
	os.Exit(code)
}

// utc is a file of a zone with the clock of UTC.
var utc = []byte("TZif" + strings.Repeat("\x00", 16) +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x04" +
	"\x00\x00\x00\x00\x00\x00UTC\x00")

func TestLoad(t *testing.T) {
	t.Run("every zone can be loaded", func(t *testing.T) {
		names := zone.Names()
		if len(names) < 500 {
			t.Fatalf("there are only %d zones", len(names))
		}
		for _, name := range names {
			if location, err := zone.Load(name); err != nil || location.String() != name {
				t.Errorf("%s: %v, %v", name, location, err)
			}
		}
	})
	t.Run("a zone is the same on every machine", func(t *testing.T) {
		if location, err := time.LoadLocation("Europe/Berlin"); err != nil || offset(location) != 0 {
			t.Fatalf("the zone of this machine is not the wrong one: %v, %v", location, err)
		}
		location, err := zone.Load("Europe/Berlin")
		if err != nil {
			t.Fatal(err)
		}
		if got := offset(location); got != 7200 {
			t.Errorf("in summer the clock is %d s ahead of UTC", got)
		}
	})
	t.Run("the zones come from the Go release", func(t *testing.T) {
		if !strings.HasPrefix(runtime.Version(), "go1.26") {
			t.Skip("another Go release may have other zones")
		}
		root, err := exec.Command("go", "env", "GOROOT").Output() // runtime.GOROOT is empty in tests built with -trimpath
		if err != nil {
			t.Fatal(err)
		}
		archive, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
		if errors.Is(err, os.ErrNotExist) {
			t.Skip("this Go release is installed without its zones")
		}
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = archive.Close() }()
		var names []string
		for _, file := range archive.File {
			if name := file.Name; !strings.HasSuffix(name, "/") && name != "Factory" {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		if diff := cmp.Diff(names, zone.Names()); diff != "" {
			t.Errorf("the zones differ (-release +embedded):\n%s", diff)
		}
	})
	t.Run("an unknown name is refused with the nearest one", func(t *testing.T) {
		for name, want := range map[string]string{
			"":                  "",
			"Europe/Berlim":     "Europe/Berlin",
			"europe/berlin":     "Europe/Berlin",
			"Berlin":            "Europe/Berlin",
			"sao_paulo":         "America/Sao_Paulo",
			"Local":             "Asia/Oral",
			"+01:00":            "",
			"../../etc/passwd":  "",
			"posix/Asia/Tokyo":  "",
			"'; DROP TABLE x--": "",
		} {
			_, err := zone.Load(name)
			var unknown *zone.UnknownError
			if !errors.As(err, &unknown) || unknown.Nearest != want || unknown.Name != name {
				t.Errorf("%q: %v, want an error that suggests %q", name, err, want)
			}
		}
	})
}

func offset(location *time.Location) int {
	_, seconds := time.Date(2024, 7, 1, 0, 0, 0, 0, location).Zone()
	return seconds
}
