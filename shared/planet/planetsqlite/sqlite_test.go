package planetsqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/document/documentsqlite"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/planet/planetsqlite"
	"github.com/orrery/orrery/shared/planet/planettest"
)

// childPath names an environment variable; if it is set, the test binary writes to that file. See TestMain.
const childPath = "ORRERY_TEST_PLANETS"

func TestMain(m *testing.M) {
	if path := os.Getenv(childPath); path != "" {
		if err := writeForEver(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func open(t testing.TB, path string) *documentsqlite.Store {
	t.Helper()
	s, err := planetsqlite.Open(t.Context(), path, planettest.At)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestExistingFileIsRead: a file of an earlier version is read and continued.
func TestExistingFileIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "planets.db")
	file, err := os.ReadFile("testdata/planets.db")
	if err == nil {
		err = os.WriteFile(path, file, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	shop, want := planet.DocumentOf("shop"), planettest.Version(t, 2, "two", "terraform")
	if got, err := s.Newest(t.Context(), shop); err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	if v, err := document.Put(t.Context(), s, shop, planettest.Change(t, "new", "key")); err != nil || v.Number != 3 {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestNewFileHoldsTheDefaultPlanetOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "planets.db")
	for range 2 {
		s := open(t, path)
		v, err := s.Newest(t.Context(), planet.DocumentOf(planet.FirstConfig))
		if err != nil || v != planet.First(planettest.At) {
			t.Fatalf("%+v, %v", v, err)
		}
	}
}

func TestOpenFails(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing", "planets.db")
	if _, err := planetsqlite.Open(t.Context(), missing, planettest.At); err == nil {
		t.Error("a directory that does not exist was accepted")
	}
	garbage := filepath.Join(t.TempDir(), "planets.db")
	if err := os.WriteFile(garbage, []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := planetsqlite.Open(t.Context(), garbage, planettest.At); err == nil {
		t.Error("a file of another kind was accepted")
	}
}

// TestKilledWriterLosesNothing kills a process that writes versions and reports each one that was acknowledged. All
// reported versions must be in the file, complete and without gaps. This process writes to the same file meanwhile.
func TestKilledWriterLosesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "planets.db")
	s, own := open(t, path), 0
	for _, reports := range []int{1, 7, 40} {
		acknowledged := killWriterAfter(t, path, reports, func() {
			own++
			change := document.Change{Text: textOf(own), By: "parent", At: planettest.At}
			if v, err := document.Put(t.Context(), s, planet.DocumentOf("ours"), change); err != nil || v.Number != own {
				t.Fatalf("beside another writer: version %d, %v, want %d", v.Number, err, own)
			}
		})
		list, err := s.Versions(t.Context(), killed)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) < acknowledged {
			t.Fatalf("version %d was acknowledged, and the history has %d", acknowledged, len(list))
		}
		for i, info := range list {
			want := document.NewVersion(len(list)-i, textOf(len(list)-i), "child", planettest.At)
			if got, err := s.Version(t.Context(), killed, info.Number); err != nil || got != want {
				t.Fatalf("version %d is not as it was written: %+v, %v", want.Number, got.Info, err)
			}
		}
	}
}

// killWriterAfter kills a writing process after a number of reports and returns the last version it reported. It calls
// beside at every report.
func killWriterAfter(t *testing.T, path string, reports int, beside func()) int {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childPath+"="+path)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	last, lines := 0, bufio.NewScanner(out)
	for n := 0; lines.Scan(); n++ {
		if _, err := fmt.Sscanf(lines.Text(), "version %d", &last); err != nil {
			t.Fatalf("the writer printed %q", lines.Text())
		}
		beside()
		if n == reports {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := child.Wait(); err == nil {
		t.Fatal("the writer ended by itself")
	}
	return last
}

// writeForEver writes versions of configuration "killed" and reports each on standard output.
func writeForEver(path string) error {
	s, err := planetsqlite.Open(context.Background(), path, planettest.At)
	if err != nil {
		return err
	}
	list, err := s.Versions(context.Background(), killed)
	if err != nil {
		return err
	}
	for number := len(list) + 1; ; number++ {
		v := document.NewVersion(number, textOf(number), "child", planettest.At)
		if err := s.Append(context.Background(), killed, v); err != nil {
			return err
		}
		if _, err := io.WriteString(os.Stdout, fmt.Sprintf("version %d\n", number)); err != nil {
			return err
		}
	}
}

// killed is the planet that a killed process writes.
var killed = planet.DocumentOf("killed")

// textOf returns a text that contains the number of its version and fills several pages.
func textOf(number int) string { return fmt.Sprintf("version %d %s", number, strings.Repeat("x", 20_000)) }

// TestConcurrentFirstOpen: a server and a command may both open a new file.
func TestConcurrentFirstOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "planets.db")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := planetsqlite.Open(context.Background(), path, planettest.At)
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	list, err := open(t, path).Versions(t.Context(), planet.DocumentOf(planet.FirstConfig))
	if err != nil || len(list) != 1 {
		t.Errorf("the first planet was written %d times, %v", len(list), err)
	}
}
