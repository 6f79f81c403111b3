package source

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/ingest"
)

// write writes the file of a new folder and returns the folder.
func write(t *testing.T, text string) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, FileName), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestRead(t *testing.T) {
	folder := write(t, `
# the shop
[source.shop]
files = ["/var/log/nginx/shop-*.log", "logs/shop.log"]
format = "nginx"
set = { host = "shop.example", bot = false, status = 200 }
geoip = ["cities.mmdb"]
max-age = "30d"

[source.app]
folder = "/srv/app"
[source.app.map]
timestamp = "at"
ip = "client.ip"

[source.other]
folder = "other"
log-format = '$remote_addr [$msec] $status'
zone = "Europe/Berlin"
max-age = "36h"
`)
	want := []Source{
		{Name: "app", Folders: []string{"/srv/app"}, Format: `map:["ip=client.ip","timestamp=at"]`},
		{
			Name: "other", Folders: []string{filepath.Join(folder, "other")},
			Format: "$remote_addr [$msec] $status", Zone: "Europe/Berlin", MaxAge: new(36 * time.Hour),
		},
		{
			Name: "shop", Files: []string{"/var/log/nginx/shop-*.log", filepath.Join(folder, "logs", "shop.log")},
			Format: "combined", GeoIP: []string{filepath.Join(folder, "cities.mmdb")}, MaxAge: new(30 * 24 * time.Hour),
			Defaults: []ingest.Default{
				{Field: "bot", Value: "false"}, {Field: "host", Value: "shop.example"}, {Field: "status", Value: "200"},
			},
		},
	}
	got, err := Read(folder)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	reports := "[mail]\nserver = \"x:25\"\n[reports]\ndelay = \"1h\"\n[destination.a]\nfolder = \"x\"\n"
	if got, err := Read(write(t, reports)); got != nil || err != nil {
		t.Errorf("settings of reports: %v, %v", got, err)
	}
	if got, err := Read(t.TempDir()); got != nil || err != nil {
		t.Errorf("without the file: %v, %v", got, err)
	}
}

func TestReadNamesLinesAndKeysOfMistakes(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"no TOML":               {"[source.a]\nfolder = \n", "line 2: "},
		"an unknown key":        {"[source.a]\nfolder = \"x\"\n\nformt = \"alb\"\n", "line 4: source.a.formt: there is no such key"},
		"an unknown table":      {"[sources.a]\nfolder = \"x\"\n", "line 1: sources"},
		"a value of wrong type": {"[source.a]\nfolder = 1\n", "line 2: source.a.folder: "},
		"no files":              {"# a\n[source.a]\nformat = \"alb\"\n", "line 2: source.a: write the patterns"},
		"a bad pattern":         {"[source.a]\nfiles = [\"[\"]\n", `line 2: source.a.files: "[" is not a pattern`},
		"an unknown format":     {"[source.a]\nfolder = \"x\"\nformat = \"alc\"\n", `line 3: source.a.format: unknown format "alc"`},
		"a bad format string":   {"[source.a]\nfolder = \"x\"\nlog-format = \"%h\"\n", "line 3: source.a.log-format: log format: there is no"},
		"a bad regexp":          {"[source.a]\nfolder = \"x\"\npattern = \"(\"\n", "line 3: source.a.pattern: pattern: "},
		"a bad zone":            {"[source.a]\nfolder = \"x\"\nzone = \"CEST\"\n", `line 3: source.a.zone: zone: there is no time zone "CEST"`},
		"a bad mapping":         {"[source.a]\nfolder = \"x\"\n[source.a.map]\nip = \"a..b\"\n", "line 3: source.a.map: map ip=a..b: column 6"},
		"two formats": {
			"[source.a]\nfolder = \"x\"\nformat = \"alb\"\npattern = \"(?P<timestamp>.*)\"\n",
			"line 4: source.a.pattern: format and pattern define two formats",
		},
		"an unknown field": {"[source.a]\nfolder = \"x\"\nset = { hots = \"a\" }\n", `line 3: source.a.set: there is no field "hots"`},
		"a list to set":    {"[source.a]\nfolder = \"x\"\nset = { host = [\"a\"] }\n", "line 3: source.a.set.host: write one string"},
		"a table to set": {
			"[source.a]\nfolder = \"x\"\n[source.a.set]\nbranch = \"b\"\nhost.name = \"a\"\n",
			"line 5: source.a.set.host: write one string",
		},
		"a time to set": {
			"[source.a]\nset.host = 2026-01-02\nfolder = \"x\"\n", "line 2: source.a.set.host: write one string",
		},
		"a bad age":  {"[source.a]\nfolder = \"x\"\nmax-age = \"1w\"\n", `line 3: source.a.max-age: "1w" is not a number of days`},
		"a bad name": {"[source.\"a b\"]\nfolder = \"x\"\n", "line 1: source.a b: the name of a source"},
		"the second source": {
			"[source.a]\nfolder = \"x\"\nmax-age = \"1d\"\n[source.b]\nfolder = \"x\"\nmax-age = \"0w\"\n",
			"line 6: source.b.max-age",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(write(t, test.text))
			if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), FileName+": "+test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

// TestListGoesOn lists the files that can be read.
func TestListGoesOn(t *testing.T) {
	folder := write(t, "[source.a]\nfolder = \"logs\"\n")
	logs := filepath.Join(folder, "logs")
	elsewhere := t.TempDir()
	for _, name := range []string{"a.log", "z/z.log"} {
		path := filepath.Join(elsewhere, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(elsewhere)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat(strings.Repeat("x", 250)+"/", 20) // as a path, it is too long
	if err := errors.Join(root.MkdirAll(long[:len(long)-1], 0o755), root.Close(), os.Symlink(elsewhere, logs)); err != nil {
		t.Fatal(err)
	}
	sources, err := Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	s := sources[0]
	s.Files = []string{filepath.Join(logs, long, "*.log"), filepath.Join(logs, "none", "*.log")}
	got, err := s.List()
	if diff := cmp.Diff([]string{filepath.Join(logs, "a.log"), filepath.Join(logs, "z", "z.log")}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	unreadable, other := Unreadable(err)
	if len(unreadable) != 2 || other != nil || unreadable[0].Path != filepath.Join(logs, long) ||
		!strings.HasPrefix(unreadable[1].Path, filepath.Join(logs, "xxx")) {
		t.Errorf("%v, %v", unreadable, other)
	}
}

// TestPatternsOfUnreadableFolders: a pattern matches the files in the folders that can be read, and the error names the
// others. A user who may read everything can still not read a folder whose path is too long, or links in a circle.
func TestPatternsOfUnreadableFolders(t *testing.T) {
	folder := t.TempDir()
	circle := filepath.Join(folder, "web2")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(folder, "web1", "old"), 0o755),
		os.WriteFile(filepath.Join(folder, "web1", "a.log"), nil, 0o644),
		os.WriteFile(filepath.Join(folder, "web1", "old", "a.log"), nil, 0o644),
		os.WriteFile(filepath.Join(folder, "web3"), nil, 0o644),
		os.Symlink(circle, circle),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name, pattern string
		files, failed []string
	}{
		{"the name of the file is a pattern", "*/*.log", []string{"web1/a.log"}, []string{"web2"}},
		{"the name of the file is none", "*/a.log", []string{"web1/a.log"}, []string{"web2"}},
		{"folders in it are not looked for", "web*/old/a.log", []string{"web1/old/a.log"}, []string{"web2"}},
		{"the folder is named", "web2/*.log", nil, []string{"web2"}},
		{"the file is named", "web2/a.log", nil, []string{"web2/a.log"}},
		{"a pattern that the folder does not match", "web[13]/*.log", []string{"web1/a.log"}, nil},
		{"a pattern in the middle that matches nothing", "*/new/*.log", nil, []string{"web2"}},
		{"a folder that does not exist", "web4/*.log", nil, nil},
		{"a file in place of a folder", "web3/*", nil, nil},
		{"a file in place of a folder of a file", "web3/a.log", nil, nil},
		{"a sign that is escaped", `web\1/a.log`, []string{"web1/a.log"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Source{Files: []string{filepath.Join(folder, filepath.FromSlash(test.pattern))}}.List()
			var failed []string
			unreadable, other := Unreadable(err)
			for _, u := range unreadable {
				failed = append(failed, u.Path)
			}
			relative := func(paths []string) (names []string) {
				for _, path := range paths {
					name, err := filepath.Rel(folder, path)
					if err != nil {
						t.Fatal(err)
					}
					names = append(names, filepath.ToSlash(name))
				}
				return names
			}
			if diff := cmp.Diff(test.files, relative(got)); diff != "" || other != nil {
				t.Errorf("%v (-want +got):\n%s", other, diff)
			}
			if diff := cmp.Diff(test.failed, relative(failed)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestList(t *testing.T) {
	folder := write(t, "[source.a]\nfolder = \"logs\"\nfiles = [\"*.log\", \"logs/a.log\"]\n")
	for _, name := range []string{
		"x.log", "y.txt", ".z.log", "logs/a.log", "logs/web1/b", "logs/.c", "logs/_d/e", "logs/f.part", "dir.log/g",
	} {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sources, err := Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	got, err := sources[0].List()
	if err != nil {
		t.Fatal(err)
	}
	for i, path := range got {
		got[i], _ = filepath.Rel(folder, path)
		got[i] = filepath.ToSlash(got[i])
	}
	if diff := cmp.Diff([]string{"logs/a.log", "logs/web1/b", "x.log"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	missing := filepath.Join(folder, "none")
	got, err = Source{Folders: []string{missing}}.List()
	unreadable, other := Unreadable(err)
	if len(got) > 0 || other != nil || len(unreadable) != 1 || unreadable[0].Path != missing {
		t.Errorf("a folder that does not exist: %v, %v", got, err)
	}
}

func TestKeep(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"keep = \"90d\"\n[source.shop]\nfiles = [\"a\"]\n[mail]\n": 90 * 24 * time.Hour,
		"keep = \"36h\"": 36 * time.Hour,
		"keep = \"0d\"":  0,
	} {
		keep, err := Keep(write(t, text))
		if err != nil || keep == nil || *keep != want {
			t.Errorf("%q: %v, %v", text, keep, err)
		}
		if back, err := ParseKeep(FormatKeep(want)); err != nil || back != want {
			t.Errorf("%s: %v, %v", FormatKeep(want), back, err)
		}
	}
	for _, folder := range []string{t.TempDir(), write(t, "[source.shop]\nfiles = [\"a\"]\n")} {
		if keep, err := Keep(folder); err != nil || keep != nil {
			t.Errorf("without the key: %v, %v", keep, err)
		}
	}
	for text, want := range map[string]string{
		"\n\nkeep = \"x\"": `orrery.toml: line 3: keep: "x" is not a number of days or hours`,
		"# keep\nkeep = \"23h\"\n[source.shop]\nfiles = [\"a\"]": "orrery.toml: line 2: keep: 23h is less than a day",
		"keep = \"\"":  "line 1: keep: write a number of days or hours, such as 90d",
		"keep = 90":    "orrery.toml: line 1: keep: ",
		"keeps = \"\"": "orrery.toml: line 1: keeps: there is no such key",
	} {
		if _, err := Keep(write(t, text)); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if sources, err := Read(write(t, "keep = \"90d\"\n[source.shop]\nfiles = [\"a\"]\n")); err != nil || len(sources) != 1 {
		t.Errorf("%v, %v", sources, err)
	}
}
