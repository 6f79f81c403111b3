package source

import (
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
max-age = "36h"
`)
	want := []Source{
		{Name: "app", Folders: []string{"/srv/app"}, Format: `map:["ip=client.ip","timestamp=at"]`},
		{
			Name: "other", Folders: []string{filepath.Join(folder, "other")},
			Format: "$remote_addr [$msec] $status", MaxAge: 36 * time.Hour,
		},
		{
			Name: "shop", Files: []string{"/var/log/nginx/shop-*.log", filepath.Join(folder, "logs", "shop.log")},
			Format: "combined", GeoIP: []string{filepath.Join(folder, "cities.mmdb")}, MaxAge: 30 * 24 * time.Hour,
			Defaults: []ingest.Default{
				{Field: "bot", Value: "false"}, {Field: "host", Value: "shop.example"}, {Field: "status", Value: "200"},
			},
		},
	}
	got, err := Read(folder)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
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
		"a bad mapping":         {"[source.a]\nfolder = \"x\"\n[source.a.map]\nip = \"a..b\"\n", "line 3: source.a.map: map ip=a..b: column 6"},
		"two formats": {
			"[source.a]\nfolder = \"x\"\nformat = \"alb\"\npattern = \"(?P<timestamp>.*)\"\n",
			"line 4: source.a.pattern: format and pattern define two formats",
		},
		"an unknown field": {"[source.a]\nfolder = \"x\"\nset = { hots = \"a\" }\n", `line 3: source.a.set: there is no field "hots"`},
		"a bad age":        {"[source.a]\nfolder = \"x\"\nmax-age = \"1w\"\n", `line 3: source.a.max-age: "1w" is not a number of days`},
		"a bad name":       {"[source.\"a b\"]\nfolder = \"x\"\n", "line 1: source.a b: the name of a source"},
		"the second source": {
			"[source.a]\nfolder = \"x\"\nmax-age = \"1d\"\n[source.b]\nfolder = \"x\"\nmax-age = \"0d\"\n",
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
	if got, err := (Source{Folders: []string{filepath.Join(folder, "none")}}).List(); len(got) > 0 || err != nil {
		t.Errorf("a folder that does not exist: %v, %v", got, err)
	}
}
