package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
)

// agedLog writes a log with a record of each of some numbers of days before now, and returns its path.
func agedLog(t *testing.T, name string, ages ...int) string {
	t.Helper()
	var b strings.Builder
	for _, days := range ages {
		at := time.Now().UTC().AddDate(0, 0, -days).Format(time.RFC3339)
		fmt.Fprintf(&b, `{"processing_stage":6,"timestamp":%q,"host":"shop.example","path":"/%d"}`+"\n", at, days)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// commandsOn returns a function that runs a command on a data folder and checks its exit code, and what it prints.
func commandsOn(t *testing.T, data string) func(code int, want string, args ...string) {
	return func(code int, want string, args ...string) {
		t.Helper()
		args = append(args, "--data", data)
		stdout, stderr, got := inProcess(t, args...)
		if got != code || !strings.Contains(stdout+stderr, want) {
			t.Errorf("%s: exit %d, want %d and %q:\n%s%s", strings.Join(args, " "), got, code, want, stdout, stderr)
		}
	}
}

func TestRetention(t *testing.T) {
	data := t.TempDir()
	does := commandsOn(t, data)
	log := agedLog(t, "a.log", 100, 95, 80, 40, 3, 2, 1)
	does(exit.Done, "7 records", "import", log)
	does(exit.Doubt, "2 hours older than 90d, with 2 of 7 records (28.6 %, ", "compact", "--keep", "90d")
	does(exit.Done, " 7 from ", "status", "--format", "table")
	does(exit.Done, "removed 2 hours older than 90d, with 2 of 7 records (28.6 %, ", "compact", "--keep", "90d", "--yes")
	does(exit.Done, " 5 from ", "status", "--format", "table")
	does(exit.Done, "kept        90d, records from before ", "status", "--format", "table")
	does(exit.Done, "merged 0 objects", "compact", "--keep", "90d")
	does(exit.Done, "0 records, 0 rejected", "import", log)
	does(exit.Doubt, "all 2 records are of before ", "import", agedLog(t, "old.log", 99, 98))
	does(exit.Done, "1 record, 0 rejected, ", "import", agedLog(t, "partly.log", 99, 1))

	config := filepath.Join(data, "orrery.toml")
	configure := func(text string) {
		t.Helper()
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	configure("keep = \"30d\"\n[source.none]\nfiles = [\"none\"]\n")
	does(exit.Doubt, "all 1 records are of before ", "import", agedLog(t, "new.log", 50))
	does(exit.Doubt, "2 hours older than 30d, with 2 of 6 records", "compact")
	does(exit.Done, "removed 2 hours older than 30d", "compact", "--yes")
	does(exit.Done, " 4 from ", "status", "--format", "table")
	configure("keep = \"120d\"")
	does(exit.Done, "1 record, 0 rejected", "import", agedLog(t, "longer.log", 50))
	configure("\nkeep = \"2\"")
	does(exit.Usage, `orrery.toml: line 2: keep: "2" is not a number of days or hours`, "import", log)
	does(exit.Usage, `orrery.toml: line 2: keep: "2" is not a number of days or hours`, "compact")
	configure("keep = \"12h\"")
	does(exit.Usage, "12h is less than a day", "compact")
	configure("")
	does(exit.Done, "merged", "compact", "--keep", "0d")
	does(exit.Done, "1 record, 0 rejected", "import", agedLog(t, "ancient.log", 4000))

	does(exit.Usage, "--yes is for --keep", "compact", "--yes")
	does(exit.Usage, `"-3d" is not a number of days`, "compact", "--keep=-3d")
}

// TestImportsThatExpired: imports without any record that is kept are listed with --all only.
func TestImportsThatExpired(t *testing.T) {
	data := t.TempDir()
	does := commandsOn(t, data)
	does(exit.Done, "2 records", "import", agedLog(t, "old.log", 10, 9))
	does(exit.Done, "2 records", "import", agedLog(t, "new.log", 7, 1))
	does(exit.Done, "removed 3 hours", "compact", "--keep", "5d", "--yes")
	if rows := listed(t, data); len(rows) != 1 || rows[0].Name != "new.log" || rows[0].Expired {
		t.Errorf("%+v", rows)
	}
	rows := listed(t, data, "--all")
	if len(rows) != 2 || !rows[0].Expired || rows[1].Expired {
		t.Fatalf("%+v", rows)
	}
	does(exit.Done, ", expired\n", "imports", "--all")
	does(exit.Done, "0 records of 0 hours; 0 objects replaced, 0 removed; 2 records had been removed before",
		"forget", rows[0].ID)
	does(exit.Done, "1 record of 1 hour; 0 objects replaced, 1 removed; 1 record had been removed before",
		"forget", rows[1].ID)
}

// TestServeKeeps: a server removes old hours when it starts.
func TestServeKeeps(t *testing.T) {
	data := t.TempDir()
	does := commandsOn(t, data)
	ages := []int{40}
	for days := range 10 {
		ages = append(ages, days+1)
	}
	does(exit.Done, "11 records", "import", agedLog(t, "a.log", ages...))
	s := startServer(t, data, "--keep", "30d", "--no-demo")
	deadline := time.Now().Add(time.Minute)
	for _, body := s.get("/api/v4.0/status", nil); !strings.Contains(string(body), `"records":10,`); {
		if time.Now().After(deadline) {
			t.Fatalf("the server has not removed the oldest record: %s", body)
		}
		time.Sleep(50 * time.Millisecond)
		_, body = s.get("/api/v4.0/status", nil)
	}
	if err := s.interrupt(); err != nil {
		t.Error(err)
	}
	does(exit.Doubt, "all 1 records are of before ", "import", agedLog(t, "old.log", 39))
	does(exit.Usage, "--trino queries the cluster", "serve", "--keep", "30d", "--trino", "http://127.0.0.1:1")
}

func TestForgetMissingObjects(t *testing.T) {
	data := t.TempDir()
	does := commandsOn(t, data)
	does(exit.Done, "4 records", "import", agedLog(t, "a.log", 4, 3, 2, 1))
	does(exit.Done, "no object is missing", "forget", "--missing")
	gone := time.Now().UTC().AddDate(0, 0, -4).Format("2006/01/02")
	if err := os.RemoveAll(filepath.Join(data, "lake", "fresh", filepath.FromSlash(gone))); err != nil {
		t.Fatal(err)
	}
	does(exit.Incomplete, "orrery forget --missing", "query", "stats", "-10d", "--segment", "1d")
	does(exit.Doubt, "the files of these objects are missing, with 1 of 4 records", "forget", "--missing")
	does(exit.Doubt, "fresh/"+gone, "forget", "--missing")
	does(exit.Done, "forgot 1 hour, with 1 of 4 records", "forget", "--missing", "--yes")
	does(exit.Done, "", "query", "stats", "-10d", "--segment", "1d")
	does(exit.Usage, "write --missing without imports", "forget", "--missing", "x")
	does(exit.Usage, "name the imports to forget", "forget")
	does(exit.Usage, "--yes is for --missing", "forget", "x", "--yes")
}
