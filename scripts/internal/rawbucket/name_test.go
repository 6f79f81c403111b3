package rawbucket

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/orrery/orrery/shared/ingest/ledger"
	"github.com/orrery/orrery/shared/testkit/goldentest"
)

func TestKeys(t *testing.T) {
	at := time.Date(2026, 11, 21, 10, 5, 3, 123456789, time.FixedZone("", 12*60*60))
	for _, test := range []struct {
		rule, name string
		modified   time.Time
		history    bool
		want       [2]string
	}{
		{
			"a key has the day of the last change in UTC", "access.log.gz", at, false,
			[2]string{
				"raw/2026/11/20/access.log.gz", "raw/2026/11/20/access.log.gz-20261120T220503.123456789Z",
			},
		},
		{
			"the day follows the folders of the name", "10/web1/access.log", at, false,
			[2]string{
				"raw/10/web1/2026/11/20/access.log", "raw/10/web1/2026/11/20/access.log-20261120T220503.123456789Z",
			},
		},
		{
			"logs of the history have a folder of their own", "access.log", at, true,
			[2]string{
				"raw/history/2026/11/20/access.log", "raw/history/2026/11/20/access.log-20261120T220503.123456789Z",
			},
		},
		{
			"an impossible time is replaced", "access.log", time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC), false,
			[2]string{"raw/1970/01/01/access.log", "raw/1970/01/01/access.log-19700101T000000.000000000Z"},
		},
	} {
		t.Run(test.rule, func(t *testing.T) {
			if diff := cmp.Diff(test.want, keys(test.name, test.modified, test.history)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestKeysAreOfOneLog checks that the import takes all keys of a log for the same log.
func TestKeysAreOfOneLog(t *testing.T) {
	parts := []string{
		"access", "log", ".", "-", "_", "/", "1", "10", "20261121", "2026", "11", "21", "T10", "Z", "2026-11-21",
		"10.0.0.1", ".gz", ".zst", "1763683200", "y=", "dt=", "@", "é",
	}
	rapid.Check(t, func(t *rapid.T) {
		name := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 8).Draw(t, "name"), "")
		if checkName(name) != nil {
			t.Skip("not a name")
		}
		second := rapid.Int64Range(-1<<33, 1<<33).Draw(t, "second")
		modified := time.Unix(second, rapid.Int64Range(0, 999_999_999).Draw(t, "nanosecond"))
		want := ledger.LogName(rawFolder + name)
		for _, history := range []bool{false, true} {
			for _, key := range keys(name, modified, history) {
				path := rawFolder + strings.TrimPrefix(strings.TrimPrefix(key, rawFolder), "history/")
				if got := ledger.LogName(path); got != want {
					t.Errorf("%s is the log %s, but %s is the log %s", name, want, key, got)
				}
			}
		}
	})
}

func TestNames(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"web1", "web2"} {
		if err := os.Mkdir(filepath.Join(folder, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("web1", filepath.Join(folder, "link")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder)
	for _, test := range []struct {
		rule    string
		files   []string
		name    string
		want    []string
		problem string // in the error
	}{
		{
			"the name is that of the file", []string{"web1/access.log", "error.log"}, "",
			[]string{"access.log", "error.log"}, "",
		},
		{
			"rotations of one log may be put together", []string{"web1/access.log", "./web1/access.log.2.gz"}, "",
			[]string{"access.log", "access.log.2.gz"}, "",
		},
		{
			"a folder may have several paths", []string{"web1/access.log", "link/access.log.1"}, "",
			[]string{"access.log", "access.log.1"}, "",
		},
		{
			"logs of two folders with one name are refused", []string{"web1/access.log", "web2/access.log"}, "", nil,
			"orrery put web2/access.log --name HOST/access.log",
		},
		{
			"a rotation in another folder is refused", []string{"web1/access.log", "web2/access.log.1"}, "", nil,
			"If they are one log, put them one by one",
		},
		{"a name may be given", []string{"web1/access.log"}, "web1/access.log", []string{"web1/access.log"}, ""},
		{"a name is for one log", []string{"a", "b"}, "c", nil, "one by one"},
		{"standard input needs a name", []string{"-"}, "", nil, "--name web1/access.log"},
		{"standard input may have a name", []string{"-"}, "a.log", []string{"a.log"}, ""},
		{"the folder of old logs is no name", []string{"a"}, "history/a", nil, "--history"},
		{"the folder of raw logs is no name", []string{"a"}, "raw/a", nil, "leave out raw/"},
		{"a path is no name", []string{"a"}, "/var/log/a", nil, "must not be empty"},
		{"a path upwards is no name", []string{"a"}, "../a", nil, "must not be empty, . or .."},
		{"a name has no control characters", []string{"a\nb"}, "", nil, "control characters"},
		{"a name is UTF-8", []string{"\xff"}, "", nil, "UTF-8"},
		{"a name is not too long", []string{"a"}, strings.Repeat("a", 901), nil, "too long"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			got, err := Names(test.files, test.name)
			if test.problem != "" {
				if err == nil || !strings.Contains(err.Error(), test.problem) {
					t.Errorf("error %v, want one with %q", err, test.problem)
				}
				return
			}
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Error(err, diff)
			}
		})
	}
}

// TestReadmeListsKeys compares the table of keys in the documentation with the keys of these logs.
func TestReadmeListsKeys(t *testing.T) {
	section := goldentest.Section(t, "../../README.md", "## Put")
	at := time.Date(2026, 11, 21, 10, 5, 3, 0, time.UTC)
	for _, key := range []string{
		keys("access.log.2.gz", at, false)[0],
		keys("web1/access.log", at, false)[0],
		keys("access.log", at, false)[1],
		keys("access.log", at, true)[0],
	} {
		if !strings.Contains(section, "| `"+key+"` |\n") {
			t.Errorf("README.md does not have the key %s", key)
		}
	}
}
