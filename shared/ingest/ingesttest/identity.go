// Package ingesttest is one suite for every import of logs: which files are one log, so that each line of it is
// imported once.
package ingesttest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/gzipped"
	"github.com/orrery/orrery/shared/testkit/testlevel"
)

// Lake imports logs.
type Lake interface {
	// Import imports the file at a path, which replaces an earlier file at the path.
	Import(t *testing.T, path string, content []byte)
	// Rows counts the records of the lake by their request id.
	Rows(t *testing.T) map[string]int
}

// Text returns the lines of a log. The request ids of its records are those given, separated by spaces.
func Text(ids string) string {
	var b strings.Builder
	for _, id := range strings.Fields(ids) {
		fmt.Fprintf(&b, `{"processing_stage":6,"timestamp":"2026-03-01T10:00:00Z","request_id":%q}`+"\n", id)
	}
	return b.String()
}

// Import imports a log of Text into a lake, compressed if its path ends in .gz.
func Import(t *testing.T, lake Lake, path, ids string) {
	t.Helper()
	content := []byte(Text(ids))
	if strings.HasSuffix(path, ".gz") {
		content = gzipped.Of(content)
	}
	lake.Import(t, path, content)
}

// file is a file as it is imported: its path and the ids of its lines.
type file struct{ path, ids string }

// Transition is what may happen to the logs of a host between imports.
type Transition struct {
	Name string // as in the table in README.md of package ingest
	// files are the imports. want are the ids of all records afterwards.
	files []file
	want  string
}

// Transitions are the rows of the table in README.md of package ingest, in its order. The line h is one with which
// every log begins.
var Transitions = []Transition{
	{"imported again", []file{{"access.log", "h a"}, {"access.log", "h a"}}, "h a"},
	{"grown", []file{{"access.log", "h"}, {"access.log", "h a"}, {"access.log", "h a b"}}, "h a b"},
	{"rotated", []file{{"access.log", "h a"}, {"access.log.1", "h a"}, {"access.log.2", "h a"}}, "h a"},
	{"rotated under a date", []file{
		{"access.log", "h a"}, {"access.log-20261121", "h a"}, {"access-2026-11-21.log", "h a"},
	}, "h a"},
	{"compressed", []file{{"access.log", "h a"}, {"access.log.1.gz", "h a"}}, "h a"},
	{"put into a folder of a date", []file{
		{"raw/2026/11/21/web1/access.log", "h a"}, {"raw/2026/11/22/web1/access.log.1", "h a b"},
	}, "h a b"},
	{"grown before its rotation", []file{{"access.log", "h a"}, {"access.log.1", "h a b"}}, "h a b"},
	{"rotated, and a new log begins with the same lines", []file{
		{"access.log", "h a"}, {"access.log.1", "h a b"}, {"access.log", "h"}, {"access.log", "h c"},
		{"access.log.2.gz", "h a b"}, {"access.log.1", "h c d"}, {"access.log", "h e"},
	}, "h a b h c d h e"},
	{"rotated after its beginning was imported", []file{
		{"access.log", "h"}, {"access.log", "h b"}, {"access.log.1", "h a"}, {"access.log", "h b c"},
	}, "h a h b c"},
	{"truncated and begun again", []file{
		{"access.log", "h"}, {"access.log", "h a b c"}, {"access.log", "h d"}, {"access.log", "h d e f g h i"},
	}, "h a b c h d e f g h i"},
	{"copied and truncated", []file{
		{"access.log", "h a"}, {"access.log.1", "h a b"}, {"access.log", "c"}, {"access.log", "c d"},
	}, "h a b c d"},
	{"an older copy", []file{{"access.log", "h"}, {"access.log", "h a b"}, {"access.log", "h a"}}, "h a b"},
	{"a copy in another folder", []file{{"web1/access.log", "h a"}, {"web2/access.log", "h a"}}, "h a h a"},
	{"a copy under another name", []file{{"access.log", "h a"}, {"other.log", "h a"}}, "h a h a"},
	{"another host with the same first lines", []file{
		{"web1/access.log", "h g"}, {"web2/access.log", "h"}, {"web3/access.log", "h g"}, {"web2/access.log", "h g a"},
		{"web1/access.log", "h g b"}, {"web3/access.log.1", "h g"},
	}, "h g b h g a h g"},
}

// Test runs the suite. open returns an empty lake.
func Test(t *testing.T, open func(t *testing.T) Lake) {
	for _, test := range Transitions {
		t.Run(test.Name, func(t *testing.T) { test.run(t, open(t)) })
	}
	t.Run("a fleet whose logs begin with the same line loses no line", func(t *testing.T) { testFleet(t, open(t)) })
	t.Run("any sequence of changes imports each line once", func(t *testing.T) {
		for seed := range testlevel.Of(2, 5, 20) {
			testRandom(t, open(t), uint64(seed))
		}
	})
}

// run imports the files. When all are imported again, in their order and in the opposite one, nothing changes.
func (s Transition) run(t *testing.T, lake Lake) {
	want := count(s.want)
	backwards := slices.Clone(s.files)
	slices.Reverse(backwards)
	for i, files := range [][]file{s.files, s.files, backwards} {
		for _, f := range files {
			Import(t, lake, f.path, f.ids)
		}
		if diff := cmp.Diff(want, lake.Rows(t)); diff != "" {
			t.Fatalf("records after round %d differ (-want +got):\n%s", i+1, diff)
		}
	}
}

// count counts the words of a text.
func count(text string) map[string]int {
	n := map[string]int{}
	for _, word := range strings.Fields(text) {
		n[word]++
	}
	return n
}

// testFleet imports the logs of many hosts, first with a line that all have in common.
func testFleet(t *testing.T, lake Lake) {
	hosts := testlevel.Of(20, 30, 100)
	want := map[string]int{"h": hosts}
	for _, grown := range []bool{false, true, true} {
		for n := range hosts {
			ids := "h"
			if grown {
				ids = fmt.Sprintf("h x%d", n)
				want[fmt.Sprintf("x%d", n)] = 1
			}
			Import(t, lake, fmt.Sprintf("raw/web%d/access.log", n), ids)
		}
	}
	if diff := cmp.Diff(want, lake.Rows(t)); diff != "" {
		t.Error(diff)
	}
}

// host is a host of testRandom: the lines of its current log and of the rotated ones, the latest first.
type host struct {
	name string
	logs [][]string
}

// testRandom lets the logs of some hosts grow and rotate, imports them under the paths that they have at the time, and
// compares the records with the lines of all logs. Every log begins with the same two lines. No log ends before it has
// a line of its own: a log of which another one has all lines cannot be distinguished from an older copy.
func testRandom(t *testing.T, lake Lake, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 7))
	hosts := make([]*host, 3)
	for i := range hosts {
		hosts[i] = &host{name: fmt.Sprintf("web%d", i), logs: [][]string{{"h"}}}
	}
	next := 0
	grow := func(h *host) {
		if len(h.logs[0]) == 1 {
			h.logs[0] = append(h.logs[0], "g")
			return
		}
		h.logs[0] = append(h.logs[0], fmt.Sprintf("x%d", next))
		next++
	}
	var history []string
	put := func(h *host, n int) {
		path := pathOf(random, h.name, n)
		history = append(history, fmt.Sprint(path, h.logs[n]))
		Import(t, lake, path, strings.Join(h.logs[n], " "))
	}
	for range 60 {
		h := hosts[random.IntN(len(hosts))]
		switch random.IntN(6) {
		case 0, 1:
			grow(h)
		case 2:
			if len(h.logs[0]) > 2 && len(h.logs) < 6 {
				h.logs = slices.Insert(h.logs, 0, []string{"h"})
			}
		default:
			put(h, random.IntN(len(h.logs)))
		}
	}
	want := map[string]int{}
	for _, h := range hosts {
		for len(h.logs[0]) < 3 {
			grow(h)
		}
		for _, log := range h.logs {
			maps.Copy(want, sum(want, count(strings.Join(log, " "))))
		}
	}
	for range 2 {
		for _, h := range hosts {
			for _, n := range random.Perm(len(h.logs)) {
				put(h, n)
			}
		}
		if diff := cmp.Diff(want, lake.Rows(t)); diff != "" {
			t.Fatalf("seed %d: records differ (-want +got):\n%s\nimports:\n%s", seed, diff, strings.Join(history, "\n"))
		}
	}
}

// sum returns the sums of two counts.
func sum(a, b map[string]int) map[string]int {
	both := maps.Clone(a)
	for word, n := range b {
		both[word] += n
	}
	return both
}

// pathOf returns a path at which the log with that rotation number may be found.
func pathOf(random *rand.Rand, host string, number int) string {
	path := host + "/access.log"
	if number > 0 {
		path = fmt.Sprintf("%s.%d%s", path, number, []string{"", ".gz"}[random.IntN(2)])
	}
	return "raw/" + []string{"", "2026/11/21/", "2026/11/22/09/"}[random.IntN(3)] + path
}
