package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/client"
	"github.com/orrery/orrery/shared/gen"
	"github.com/orrery/orrery/shared/testkit/testlevel"
)

// judged compares incidents with the attacks of a scene.
type judged struct {
	attacks, found  int // targets of attacks, and those with an incident
	incidents, real int // incidents, and those that are an attack
	edges, kinds    int // found attacks whose incident begins and ends within two minutes, and has the right kind
}

func (j *judged) add(o judged) {
	j.attacks, j.found, j.incidents, j.real = j.attacks+o.attacks, j.found+o.found, j.incidents+o.incidents, j.real+o.real
	j.edges, j.kinds = j.edges+o.edges, j.kinds+o.kinds
}

func (j judged) String() string {
	percent := func(n, of int) string {
		if of == 0 {
			return "–"
		}
		return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of))
	}
	return fmt.Sprintf("recall %s (%d of %d), precision %s (%d of %d), edges %s, kinds %s",
		percent(j.found, j.attacks), j.found, j.attacks, percent(j.real, j.incidents), j.real, j.incidents,
		percent(j.edges, j.found), percent(j.kinds, j.found))
}

// kindsOf maps the kinds of the generator to the kinds of incidents.
var kindsOf = map[gen.Kind]string{
	gen.Flood: "flood", gen.Guessing: "password guessing", gen.Scraping: "scraping", gen.Scan: "scan", gen.Injection: "injection",
}

// judge compares the incidents of the last day of a scene with its attacks. They match if they have the same host, paths of
// which one is below the other, and at least half of their time in common, from the begin of the first to the end of the
// last. It also returns notes about what does not match.
func judge(t *testing.T, scene *gen.Scene, seed uint64, records int, accessLog bool) (j judged, notes []string) {
	t.Helper()
	dir := t.TempDir()
	log, truth := filepath.Join(dir, "log"), filepath.Join(dir, "truth")
	args := []string{
		"generate", "--scene", scene.Name, "--seed", strconv.FormatUint(seed, 10), "--records", strconv.Itoa(records),
		"--from", "2026-01-05", "--to", "2026-01-08", "--output", log, "--truth", truth,
	}
	if accessLog {
		args = append(args, "--access-log")
	}
	data := filepath.Join(dir, "data")
	for _, args := range [][]string{args, {"import", "--data", data, log}} {
		if _, stderr, code := inProcess(t, args...); code != 0 {
			t.Fatal(stderr)
		}
	}
	if err := os.Remove(log); err != nil { // a hundred logs would take 20 GB
		t.Fatal(err)
	}
	period := "timestamp between 2026-01-07 and 2026-01-07 23:59:59.999"
	stdout, stderr, code := inProcess(t, "incidents", "--data", data, "--format", "json", period)
	var got struct {
		Data struct{ Results []client.Incident }
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != 0 {
		t.Fatalf("%d %v %s", code, err, stderr)
	}
	content, err := os.ReadFile(truth)
	if err != nil {
		t.Fatal(err)
	}
	var of gen.Truth
	if err := json.Unmarshal(content, &of); err != nil {
		t.Fatal(err)
	}
	matched := make([]bool, len(got.Data.Results))
	for _, attack := range of.Attacks {
		from, to := time.UnixMilli(attack.From).UTC(), time.UnixMilli(attack.To).UTC()
		if to.Before(time.Date(2026, 1, 7, 0, 0, 0, 0, time.UTC)) {
			continue
		}
		for _, target := range attack.Targets {
			j.attacks++
			best, most := -1, 0.
			for i, r := range got.Data.Results {
				if r.Host == nil || *r.Host != target.Host || !alongOnePath(r.Path, target.Path) {
					continue
				}
				if share := common(from, to, incidentTimes(t, r)); share > most {
					best, most = i, share
				}
			}
			name := fmt.Sprintf("%s seed %d: %s of %s%s, %s–%s, %d requests", scene.Name, seed, attack.Kind, target.Host, target.Path,
				from.Format("15:04:05"), to.Format("15:04:05"), target.Requests)
			if most < 0.5 {
				notes = append(notes, fmt.Sprintf("missed %s (best overlap %.2f)", name, most))
				continue
			}
			r := got.Data.Results[best]
			matched[best] = true
			j.found++
			begin := incidentTimes(t, r)
			if begin[0].Sub(from).Abs() <= 2*time.Minute && begin[1].Sub(to).Abs() <= 2*time.Minute {
				j.edges++
			} else {
				notes = append(notes, "edges "+name+": "+r.Sentence)
			}
			if r.Kind == kindsOf[attack.Kind] {
				j.kinds++
			} else {
				notes = append(notes, "kind "+name+": "+r.Sentence)
			}
		}
	}
	j.incidents = len(got.Data.Results)
	for i, r := range got.Data.Results {
		if matched[i] {
			j.real++
		} else {
			notes = append(notes, fmt.Sprintf("extra %s seed %d: %s", scene.Name, seed, r.Sentence))
		}
	}
	return j, notes
}

func incidentTimes(t *testing.T, r client.Incident) (times [2]time.Time) {
	t.Helper()
	end := "2026-01-08T00:00:00Z"
	if r.End != nil {
		end = *r.End
	}
	for i, text := range []string{r.Begin, end} {
		var err error
		if times[i], err = time.Parse(time.RFC3339, text); err != nil {
			t.Fatal(err)
		}
	}
	return times
}

// common returns which share of the time of two spans is common.
func common(from, to time.Time, of [2]time.Time) float64 {
	both := min(to.UnixMilli(), of[1].UnixMilli()) - max(from.UnixMilli(), of[0].UnixMilli())
	all := max(to.UnixMilli(), of[1].UnixMilli()) - min(from.UnixMilli(), of[0].UnixMilli())
	return float64(both) / float64(all)
}

// alongOnePath reports whether one of two paths is below the other.
func alongOnePath(a, b string) bool {
	a, b = strings.TrimSuffix(a, "/")+"/", strings.TrimSuffix(b, "/")+"/"
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}

// TestIncidentsOfScenes: the incidents of scenes with known attacks, and of quiet ones, are mostly the attacks. With
// ORRERY_TEST_TRUTH="100 from 1001 of 60000", so many seeds are judged, each with the next scene and so many records of
// three days. Otherwise it judges every eighth scene, and every scene at the long level.
func TestIncidentsOfScenes(t *testing.T) {
	if testing.Short() {
		t.Skip("it generates a period for each scene")
	}
	step := testlevel.Of(1, 8, 1)
	seeds, first, records := (len(gen.Scenes)+step-1)/step, uint64(1), 60_000
	if text := os.Getenv("ORRERY_TEST_TRUTH"); text != "" {
		if _, err := fmt.Sscanf(text, "%d from %d of %d", &seeds, &first, &records); err != nil {
			t.Fatalf("ORRERY_TEST_TRUTH: %v; want for example 100 from 1001 of 60000", err)
		}
		step = 1
	}
	var all, logs judged
	for n := range seeds {
		seed, scene := first+uint64(n), &gen.Scenes[n*step%len(gen.Scenes)]
		for _, of := range []struct {
			to        *judged
			accessLog bool
			name      string
		}{{&all, false, ""}, {&logs, true, "access log: "}} {
			j, notes := judge(t, scene, seed, records, of.accessLog)
			for _, note := range notes {
				t.Log(of.name + note)
			}
			of.to.add(j)
		}
	}
	t.Log("with decisions: ", all)
	t.Log("access logs: ", logs)
	for _, of := range []struct {
		name                     string
		judged                   judged
		recall, precision, kinds int // percent, at least
	}{{"with decisions", all, 75, 75, 90}, {"access logs", logs, 70, 75, 90}} {
		j := of.judged
		if 100*j.found < of.recall*j.attacks || 100*j.real < of.precision*j.incidents || 100*j.kinds < of.kinds*j.found {
			t.Errorf("%s: %s", of.name, j)
		}
	}
}
