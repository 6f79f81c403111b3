package main

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/target"
	"github.com/orrery/orrery/scripts/orrery/internal/watch"
	"github.com/orrery/orrery/shared/geoip/geoiptest"
)

func TestImportSource(t *testing.T) {
	data := t.TempDir()
	old := time.Now().UTC().Add(-72 * time.Hour).Format(time.RFC3339)
	files := map[string]string{
		"orrery.toml": "[source.shop]\nfiles = [\"logs/shop.*\"]\nset = { branch = \"shop\" }\nmax-age = \"1d\"\n" +
			"map = { timestamp = \"at\" }\n[source.none]\nfiles = [\"none/*\"]\n[source.gone]\nfolder = \"gone\"\n",
		"logs/shop.1": fmt.Sprintf(`{"at":%q,"path":"/a"}`+"\n", time.Now().UTC().Format(time.RFC3339)),
		"logs/shop.2": fmt.Sprintf(`{"at":%q,"path":"/b"}`+"\n", old),
		"logs/other":  "x\n",
	}
	for name, text := range files {
		path := filepath.Join(data, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(filepath.Join(data, "logs"), filepath.Join(data, "raw")); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(data, "orrery.toml")
	if err := os.WriteFile(config, []byte(strings.Replace(files["orrery.toml"], "logs/", "raw/", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := orrery(t, "", "import", "--data", data, "--source", "shop")
	if code != exit.Rejected || !strings.Contains(stdout, "shop.1: 1 record, ") ||
		!strings.Contains(stdout, "shop.2: 0 records, 1 rejected") ||
		!strings.Contains(stdout, "rejected 1: too_old") || strings.Contains(stdout, "other") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"an unknown source":       {[]string{"--source", "app"}, `it has ["gone" "none" "shop"]`},
		"a source without files":  {[]string{"--source", "none"}, "source none has no files"},
		"a source without folder": {[]string{"--source", "gone"}, "cannot read " + filepath.Join(data, "gone")},
		"a source with options":   {[]string{"--source", "shop", "--set", "branch=a"}, "leave out the others"},
		"neither source nor file": {nil, "name the logs to import, or a source"},
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			_, stderr, code := orrery(t, "", append([]string{"import", "--data", data}, test.args...)...)
			if code == exit.Done || !strings.Contains(stderr, test.want) {
				t.Errorf("exit %d: %s", code, stderr)
			}
		})
	}
	if err := os.WriteFile(config, []byte("[source.shop]\nfolder = \"raw\"\nforma = \"alb\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"import", "--data", data, "--source", "shop"},
		{"serve", "--data", data, "--watch", "--listen", "127.0.0.1:0"},
	} {
		_, stderr, code := orrery(t, "", args...)
		if code == exit.Done || !strings.Contains(stderr, "orrery.toml: line 3: source.shop.forma: there is no such key") {
			t.Errorf("%s: exit %d: %s", args[0], code, stderr)
		}
	}
}

// TestImportSourceWithAllOptions: the options of a source apply together: its format is not detected, and the places of
// the clients are added to its records.
func TestImportSourceWithAllOptions(t *testing.T) {
	data, other := t.TempDir(), t.TempDir()
	database := filepath.Join(other, "countries.mmdb")
	geoiptest.Write(t, database, map[netip.Prefix]any{
		netip.MustParsePrefix("203.0.113.0/24"): map[string]any{
			"country": map[string]any{"names": map[string]any{"en": "France"}},
		},
	})
	options := fmt.Sprintf("files = [%q]\ngeoip = [%q]\nset = { branch = \"blog\" }\nmax-age = \"0d\"\n",
		filepath.Join(other, "*.log"), database)
	config := "[source.wrong]\n" + options + "format = \"alb\"\n[source.right]\n" + options + "format = \"vcombined\"\n"
	const line = `shop.example 203.0.113.7 - - [17/May/2026:10:05:03 +0000] "GET /a HTTP/1.1" 200 1 "-" "curl"` + "\n"
	err := errors.Join(os.WriteFile(filepath.Join(data, "orrery.toml"), []byte(config), 0o644),
		os.WriteFile(filepath.Join(other, "shop.log"), []byte(line), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		source string
		code   int
	}{{"wrong", exit.Rejected}, {"right", exit.Done}} {
		stdout, stderr, code := inProcess(t, "import", "--data", data, "--source", test.source)
		if code != test.code {
			t.Errorf("source %s: exit %d\n%s%s", test.source, code, stdout, stderr)
		}
	}
	stdout, stderr, _ := inProcess(t, "query", "logs", "--data", data, "--format", "ndjson",
		"--fields", "host,country,branch", "timestamp between 2026-05-17 and 2026-05-18")
	if stdout != `{"host":"shop.example","country":"France","branch":"blog"}`+"\n" {
		t.Errorf("%s\n%s", stdout, stderr)
	}
}

// TestImportSourceGoesOn: a folder that cannot be read is an error, and the logs in the others are imported.
func TestImportSourceGoesOn(t *testing.T) {
	for name, form := range map[string]string{"a folder": "folder = %q", "a pattern": `files = ["%s/z.log", "%[1]s/*/*"]`} {
		t.Run(name, func(t *testing.T) {
			logs := t.TempDir()
			importsBesideUnreadable(t, logs, fmt.Sprintf("[source.shop]\n"+form+"\n", logs))
		})
	}
}

// importsBesideUnreadable imports a source with a log and a folder that cannot be read.
func importsBesideUnreadable(t *testing.T, logs, config string) {
	t.Helper()
	data, circle := t.TempDir(), filepath.Join(logs, "circle")
	root, err := os.OpenRoot(logs)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat(strings.Repeat("x", 250)+"/", 20) // as a path, it is too long
	err = errors.Join(root.MkdirAll(long[:len(long)-1], 0o755), root.Close(), os.Symlink(circle, circle),
		os.WriteFile(filepath.Join(data, "orrery.toml"), []byte(config), 0o644),
		os.WriteFile(filepath.Join(logs, "z.log"), []byte(`{"processing_stage":6,"timestamp":"2026-05-17T10:00:00Z"}`+"\n"),
			0o644))
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := orrery(t, "", "import", "--data", data, "--source", "shop")
	if code != exit.Failed || !strings.Contains(stdout, "z.log: 1 record,") ||
		!strings.Contains(stderr, "cannot read ") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
}

// TestSourcesHaveTheOptionsOfTheServer: a source without databases and maximum age has those of serve.
func TestSourcesHaveTheOptionsOfTheServer(t *testing.T) {
	data := t.TempDir()
	own, server := filepath.Join(data, "own.mmdb"), filepath.Join(data, "server.mmdb")
	for _, file := range []string{own, server} {
		geoiptest.Write(t, file, map[netip.Prefix]any{netip.MustParsePrefix("203.0.113.0/24"): map[string]any{}})
	}
	config := "[source.a]\nfolder = \"a\"\n[source.b]\nfolder = \"b\"\ngeoip = [\"own.mmdb\"]\nmax-age = \"2d\"\n" +
		"[source.c]\nfolder = \"c\"\nmax-age = \"0d\"\n"
	if err := os.WriteFile(filepath.Join(data, "orrery.toml"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	type options struct {
		geoip   string
		horizon time.Duration
	}
	const day = 24 * time.Hour
	given, none := watch.Days(7), watch.Days(0)
	for name, test := range map[string]struct {
		horizon *watch.Days
		want    []options
	}{
		"given":     {&given, []options{{server, 7 * day}, {own, 2 * day}, {server, 0}}},
		"none":      {&none, []options{{server, 0}, {own, 2 * day}, {server, 0}}},
		"not given": {nil, []options{{server, 35 * day}, {own, 2 * day}, {server, 0}}},
	} {
		t.Run("horizon "+name, func(t *testing.T) {
			serve := &serveCommand{Data: target.Folder(data), Watch: true, Horizon: test.horizon}
			watched, closeAll, err := serve.sources(newNotices(io.Discard), []string{server})
			if err != nil {
				t.Fatal(err)
			}
			var got []options
			for _, w := range watched {
				got = append(got, options{strings.Join(w.Options.GeoIP, " "), w.Options.Horizon})
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
			if err := closeAll(); err != nil {
				t.Error(err)
			}
		})
	}
	if got := (&serveCommand{}).horizon(); got != 35*day {
		t.Errorf("the watched folder has a horizon of %s", got)
	}
}

// TestSourcesWithTheSameFiles: the first source in alphabetical order imports a file of several, and the server says
// so.
func TestSourcesWithTheSameFiles(t *testing.T) {
	data, logs := t.TempDir(), t.TempDir()
	config := fmt.Sprintf("[source.shop]\nfolder = %q\n[source.all]\nfiles = [%q]\n[source.other]\nfolder = \"other\"\n",
		logs, filepath.Join(logs, "*.log"))
	if err := os.WriteFile(filepath.Join(data, "orrery.toml"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.log", "b.log", "c.json"} {
		if err := os.WriteFile(filepath.Join(logs, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var stderr strings.Builder
	n := newNotices(&stderr)
	n.person = true
	watched, closeAll, err := (&serveCommand{Data: target.Folder(data), Watch: true}).sources(n, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := closeAll(); err != nil {
		t.Error(err)
	}
	want := "warning: the sources all, shop of orrery.toml have the same files: " + filepath.Join(logs, "a.log") +
		" and 1 other file. Source all imports them, because it is the first in alphabetical order\n"
	if stderr.String() != want {
		t.Errorf("%q, want %q", stderr.String(), want)
	}
	first, err := watched[0].List()
	if err != nil || len(first) != 2 {
		t.Errorf("the first source watches %q, %v; want two logs", first, err)
	}
}

// TestServeWatchesSources: a watched source has a horizon, and the command imports records of any age.
func TestServeWatchesSources(t *testing.T) {
	buildBinary(t)
	data, other, logs := t.TempDir(), t.TempDir(), t.TempDir()
	config := fmt.Sprintf("[source.shop]\nfolder = %q\nset = { branch = \"shop\" }\n", logs)
	for _, folder := range []string{data, other} {
		if err := os.WriteFile(filepath.Join(folder, "orrery.toml"), []byte(config), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().UTC().AddDate(0, 0, -36).Format(time.RFC3339)
	for _, name := range []string{"a.log", "b.log"} { // the server reports an import in one line
		lines := fmt.Sprintf(`{"processing_stage":6,"timestamp":%q,"path":"/old"}`+"\n"+
			`{"processing_stage":6,"timestamp":%q,"path":"/%s"}`+"\n",
			old, time.Now().UTC().Format(time.RFC3339), name)
		if err := os.WriteFile(filepath.Join(logs, name), []byte(lines), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := startServer(t, data, "--watch", "--no-demo")
	if err := s.waitFor(`"msg":"imported"`); err != nil {
		t.Fatal(err)
	}
	if stdout, stderr, code := orrery(t, "", "import", "--data", other, "--source", "shop"); code != exit.Done {
		t.Errorf("import: exit %d\n%s%s", code, stdout, stderr)
	}
	day := time.Now().UTC()
	period := fmt.Sprintf("timestamp between %s and %s", day.AddDate(0, 0, -40).Format(time.DateOnly),
		day.AddDate(0, 0, 1).Format(time.DateOnly))
	for folder, want := range map[string]int{data: 0, other: 2} {
		stdout, stderr, _ := orrery(t, "", "query", "logs", "--data", folder, "--format", "ndjson", "--fields", "path",
			period+`, branch="shop"`)
		if !strings.Contains(stdout, "/a.log") || !strings.Contains(stdout, "/b.log") ||
			strings.Count(stdout, "/old") != want {
			t.Errorf("want %d old records\n%s%s\n%s", want, stdout, stderr, s.log.String())
		}
	}
}
