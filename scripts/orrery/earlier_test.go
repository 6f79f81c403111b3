package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/shared/keys"
)

// earlier are programs of earlier versions. testdata/earlier has a data folder that each of them has written: it imported
// the logs below, compacted, stored a planet and created a key, and if it knows saved filters, one of them.
var earlier = []struct {
	commit  string
	key     string
	filters bool
	// older is whether it does not know versions of the schema: its answers skip the objects that this version has merged,
	// and name them, and it refuses to merge their hours.
	older bool
}{
	{"1c7d17d", "orr_j2xdjwhqo3p6ljk5be5qxhwnhv", false, true},
	{"8c03b511", "orr_zbdrvgm25sqk23guyzoqr6a5kv", true, false},
}

const (
	earlierA = `192.0.2.1 - - [17/May/2026:10:05:03 +0000] "GET /a HTTP/1.1" 200 12 "-" "Mozilla/5.0"` + "\n" +
		`192.0.2.2 - - [17/May/2026:10:06:03 +0000] "GET /b?x=1 HTTP/1.1" 404 12 "https://shop.example/" "curl/8"` + "\n" +
		`192.0.2.3 - - [17/May/2026:11:05:03 +0000] "POST /login HTTP/1.1" 502 99 "-" "Mozilla/5.0"` + "\n"
	earlierB = `198.51.100.1 - - [17/May/2026:12:05:03 +0000] "GET /a HTTP/1.1" 200 12 "-" "Mozilla/5.0"` + "\n" +
		`198.51.100.2 - - [17/May/2026:12:06:03 +0000] "GET /b?x=1 HTTP/1.1" 404 12 "https://shop.example/" "curl/8"` + "\n"
	earlierC = `{"processing_stage":6,"timestamp":"2026-05-17T10:30:00Z","request_id":"r1","ip":"203.0.113.7",` +
		`"host":"shop.example","method":"GET","path":"/c","status":403,"blocked":true,"tags":["x"],"new_member":1}` +
		"\nno record\n"
	laterLine = `192.0.2.4 - - [17/May/2026:11:06:03 +0000] "GET /later HTTP/1.1" 200 12 "-" "Mozilla/5.0"` + "\n"

	earlierDay    = "timestamp between 2026-05-17 and 2026-05-18"
	earlierPlanet = `{"name":"__default__","trusted_nets":[{"address":"10.0.0.0/8","comment":"office"}],` +
		`"ichallenge":{"attrs":{},"lang":{},"palette":["#fff"],"position":{}},"newer":[1.0]}`
)

// The addresses of the records, the newest first.
var (
	earlierIPs = []string{"198.51.100.2", "198.51.100.1", "192.0.2.3", "203.0.113.7", "192.0.2.2", "192.0.2.1"}
	laterIPs   = []string{"198.51.100.2", "198.51.100.1", "192.0.2.4", "192.0.2.3", "192.0.2.2", "192.0.2.1"}
)

// program runs a version of the command.
type program func(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int)

// must returns the standard output of a command that succeeds.
func (p program) must(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	stdout, stderr, code := p(t, stdin, args...)
	if code != 0 {
		t.Fatalf("%s: exit code %d\n%s%s", strings.Join(args, " "), code, stdout, stderr)
	}
	return stdout
}

// checkIPs compares the addresses of the records of a folder.
func (p program) checkIPs(t *testing.T, when, data string, want []string) {
	t.Helper()
	var got []string
	for line := range strings.Lines(p.must(t, "", "query", "logs", "--data", data, "--format", "ndjson", earlierDay)) {
		var r struct{ IP string }
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		got = append(got, r.IP)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("addresses %s (-want +got):\n%s", when, diff)
	}
}

// checkSettings compares the planet, the keys and the saved filters of a folder.
func (p program) checkSettings(t *testing.T, when, data, comment string, keys []string, filters string) {
	t.Helper()
	var planet struct {
		TrustedNets []struct{ Comment string } `json:"trusted_nets"`
		Newer       []float64                  `json:"newer"`
	}
	text := p.must(t, "", "planet", "get", "prod", "--data", data)
	if err := json.Unmarshal([]byte(text), &planet); err != nil || len(planet.TrustedNets) != 1 ||
		planet.TrustedNets[0].Comment != comment || len(planet.Newer) != 1 {
		t.Errorf("%s, the planet is %s, %v", when, text, err)
	}
	list := p.must(t, "", "key", "list", "--data", data)
	for _, key := range keys {
		if !strings.Contains(list, key) {
			t.Errorf("%s, the key %s is not among\n%s", when, key, list)
		}
	}
	if filters != "" {
		if list := p.must(t, "", "filter", "list", "--data", data); !strings.Contains(list, filters) {
			t.Errorf("%s, %s is not among the filters:\n%s", when, filters, list)
		}
	}
}

// laterVersion writes to a folder of an earlier version: it continues a log, forgets an import, compacts, and stores
// settings.
func laterVersion(t *testing.T, data string) {
	t.Helper()
	var this program = withInput
	log := rawLog(t, data, "a.log", earlierA+laterLine)
	if out := this.must(t, "", "import", "--data", data, log); !strings.Contains(out, "1 record, 0 rejected") ||
		!strings.Contains(out, "3 lines imported before") {
		t.Errorf("the log that has grown: %s", out)
	}
	this.must(t, "", "forget", "--data", data, idOf(t, data, "c.log"))
	this.must(t, "", "compact", "--data", data)
	this.must(t, strings.Replace(earlierPlanet, "office", "home", 1), "planet", "put", "prod", "--data", data)
	this.must(t, "", "key", "create", "later", "--scope", "data:read", "--data", data)
	this.must(t, "", "filter", "put", "errors", "status>=502", "--data", data)
}

// rawLog writes a log into the raw/ of a data folder. Imports recognise such a log after the folder has moved.
func rawLog(t *testing.T, data, name, text string) (path string) {
	t.Helper()
	path = filepath.Join(data, "raw", name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

// idOf returns the ID of an import.
func idOf(t *testing.T, data, name string) string {
	t.Helper()
	for line := range strings.Lines(program(withInput).must(t, "", "imports", "--data", data)) {
		if words := strings.Fields(line); len(words) > 1 && strings.HasSuffix(words[1], name) {
			return words[0]
		}
	}
	t.Fatalf("there is no import %s", name)
	return ""
}

// TestFoldersOfEarlierVersions: this version reads what earlier ones have written, and writes to it.
func TestFoldersOfEarlierVersions(t *testing.T) {
	for _, of := range earlier {
		t.Run(of.commit, func(t *testing.T) {
			var this program = withInput
			data := oldFolder(t, filepath.Join("earlier", of.commit+".tar.gz"))
			filters := ""
			if of.filters {
				filters = "status>=500"
			}
			this.checkIPs(t, "at first", data, earlierIPs)
			this.checkSettings(t, "at first", data, "office", []string{"reader"}, filters)
			if out := this.must(t, "", "quarantine", "--data", data); !strings.Contains(out, "no record") {
				t.Errorf("the rejected line is not in\n%s", out)
			}
			checkKey(t, data, of.key)
			laterVersion(t, data)
			this.checkIPs(t, "after writing", data, laterIPs)
			this.checkSettings(t, "after writing", data, "home", []string{"reader", "later"}, "status>=502")
			checkKey(t, data, of.key)
		})
	}
}

// checkKey checks that the key of an earlier version is valid.
func checkKey(t *testing.T, data, key string) {
	t.Helper()
	known, err := local.OpenKeys(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = known.Close() }()
	list, err := known.List(t.Context())
	if err != nil || !slices.ContainsFunc(list, func(k keys.Key) bool {
		return k.Name == "reader" && k.Hash == keys.HashOf(key)
	}) {
		t.Errorf("the key is not among %+v, %v", list, err)
	}
}

// TestStepBack: earlier versions read the folder that this version has written, and import into it. What they cannot merge
// they refuse, and nothing is lost. ORRERY_TEST_EARLIER names a folder with their programs, orrery-COMMIT, which
// scripts/release.sh earlier builds.
func TestStepBack(t *testing.T) {
	programs := os.Getenv("ORRERY_TEST_EARLIER")
	if programs == "" {
		t.Skip("ORRERY_TEST_EARLIER names no folder with programs: run scripts/release.sh earlier")
	}
	for _, of := range earlier {
		t.Run(of.commit, func(t *testing.T) {
			var before program = func(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
				t.Helper()
				var out, errs bytes.Buffer
				command := exec.CommandContext(t.Context(), filepath.Join(programs, "orrery-"+of.commit), args...)
				command.Env, command.Stdin, command.Stdout, command.Stderr = environment(), strings.NewReader(stdin), &out, &errs
				if err := command.Run(); err != nil && command.ProcessState == nil {
					t.Fatal(err)
				}
				return out.String(), errs.String(), command.ProcessState.ExitCode()
			}
			data := t.TempDir()
			paths := []string{
				rawLog(t, data, "a.log", earlierA), rawLog(t, data, "b.log", earlierB), rawLog(t, data, "c.log", earlierC),
			}
			before(t, "", append([]string{"import", "--data", data}, paths...)...) // a rejected line sets the exit code
			before.must(t, earlierPlanet, "planet", "put", "prod", "--data", data)
			before.must(t, "", "key", "create", "reader", "--scope", "data:read,conf:read", "--data", data)
			laterVersion(t, data)

			filters := ""
			if of.filters {
				filters = "status>=502"
			}
			want, all := laterIPs, slices.Insert(slices.Clone(laterIPs), 2, "192.0.2.9")
			if of.older {
				want = slices.Concat(laterIPs[:2], laterIPs[4:])
				answer := before.must(t, "", "query", "logs", "--data", data, "--format", "json", earlierDay)
				if !strings.Contains(answer, `"skipped":["compact/2026/05/17/11/`) {
					t.Errorf("the answer does not name what it lacks: %s", answer)
				}
			}
			before.checkIPs(t, "after the step back", data, want)
			before.checkSettings(t, "after the step back", data, "home", []string{"reader", "later"}, filters)
			const line = `192.0.2.9 - - [17/May/2026:11:59:03 +0000] "GET /d HTTP/1.1" 200 12 "-" "Mozilla/5.0"` + "\n"
			log := rawLog(t, data, "d.log", line)
			before.must(t, "", "import", "--data", data, log)
			_, stderr, code := before(t, "", "compact", "--data", data)
			if refused := strings.Contains(stderr, "object has other columns than this version reads"); refused != of.older ||
				refused != (code != 0) {
				t.Errorf("compact: exit code %d, %s", code, stderr)
			}
			if !of.older {
				before.checkIPs(t, "after its import", data, all)
			}
			program(withInput).checkIPs(t, "after the upgrade", data, all)
		})
	}
}
