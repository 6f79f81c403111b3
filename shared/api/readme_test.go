package api

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/api/examples"
	"github.com/orrery/orrery/shared/api/parameter"
	"github.com/orrery/orrery/shared/api/problem"
	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/fault"
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// table returns the cells of the table under a heading, without backticks.
func table(t *testing.T, heading string) [][]string {
	t.Helper()
	_, section, ok := strings.Cut(readme(t), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("README.md has no section %s", heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var rows [][]string
	for _, line := range strings.Split(section, "\n") {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.ReplaceAll(strings.TrimSpace(cells[i]), "`", "")
		}
		rows = append(rows, cells)
	}
	return rows[2:] // without the heads and the line below them
}

func TestReadmeListsTheRoutes(t *testing.T) {
	var want, got []string
	routes := routesWithMetrics()
	for i := range routes {
		if routes[i].Tag != "" {
			want = append(want, strings.Join([]string{routes[i].Method, routes[i].Path, string(routes[i].Scope)}, " "))
		}
	}
	for _, row := range table(t, "Routes") {
		got = append(got, strings.Join(row[:3], " "))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("routes (-code +README):\n%s", diff)
	}
}

// TestReadmeListsTheRoutesOfReports: the routes that only some servers have are in sections of their own.
func TestReadmeListsTheRoutesOfReports(t *testing.T) {
	var want, got []string
	for _, r := range everyRoute() {
		switch {
		case r.Tag == route.ReportsTag:
			want = append(want, r.Method+" "+r.Path)
		case r.ID == "report" && !strings.Contains(readme(t), "`"+r.Method+" "+r.Path+"`"):
			t.Errorf("README.md does not describe %s %s", r.Method, r.Path)
		}
	}
	for _, row := range table(t, "Scheduled reports") {
		got = append(got, row[0]+" "+row[1])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("routes (-code +README):\n%s", diff)
	}
}

func TestReadmeListsTheParameters(t *testing.T) {
	listed := map[string]bool{} // "stats segment"
	for _, row := range table(t, "Parameters") {
		if len(row) != 4 { // a row of a table about one route
			continue
		}
		for _, id := range strings.Fields(row[1]) {
			routes := (&server{}).routes()
			i := slices.IndexFunc(routes, func(r route.Route) bool { return r.ID == id })
			if i < 0 {
				t.Fatalf("there is no route %s", id)
			}
			p := parameter.Find(routes[i].Params, row[0])
			if p == nil {
				t.Errorf("%s has no parameter %s", id, row[0])
				continue
			}
			if most := p.Schema.Maximum; most != nil && !strings.Contains(row[2], "1…"+strconv.Itoa(int(*most))) {
				t.Errorf("%s of %s is at most %v, but %s in README.md", row[0], id, *most, row[2])
			}
			if standard, ok := p.Schema.Default.(float64); ok && row[3] != strconv.Itoa(int(standard)) {
				t.Errorf("%s of %s is %v by default, but %s in README.md", row[0], id, standard, row[3])
			}
			for _, value := range p.Schema.Enum {
				if !strings.Contains(row[2], fmt.Sprint(value)) {
					t.Errorf("%s of %s may be %s, but %s in README.md", row[0], id, value, row[2])
				}
			}
			if standard := p.Schema.Default; p.Schema.Enum != nil && standard != nil && row[3] != standard {
				t.Errorf("%s of %s is %s by default, but %s in README.md", row[0], id, standard, row[3])
			}
			listed[id+" "+row[0]] = true
		}
	}
	for _, r := range (&server{}).routes() {
		for _, p := range r.Params {
			if r.ID == r.OfGet() && !listed[r.ID+" "+p.Name] {
				t.Errorf("README.md does not list %s of %s", p.Name, r.ID)
			}
		}
	}
}

// TestReadmeListsTheErrors: the table has the statuses that are in the document and in the examples.
func TestReadmeListsTheErrors(t *testing.T) {
	var got []int
	for _, row := range table(t, "Errors") {
		status, err := strconv.Atoi(row[0])
		if err != nil {
			t.Fatal(err)
		}
		if len(examples.Of("", status)) == 0 {
			t.Errorf("no example shows status %d", status)
		}
		got = append(got, status)
	}
	var want []int
	routes := (&server{}).routes()
	for i := range routes {
		want = append(want, routes[i].AllErrors()...)
	}
	for kind := fault.Internal; kind < fault.Canceled; kind++ {
		want = append(want, problem.Of(fault.New(kind, "no"), problem.Request{}).Code)
	}
	slices.Sort(want)
	if diff := cmp.Diff(slices.Compact(want), got); diff != "" {
		t.Errorf("statuses (-code +README):\n%s", diff)
	}
}

var fenced = regexp.MustCompile("(?s)```http\n(.*?)\n```\n\n```(json|text|csv)\n(.*?)\n```")

func TestReadmeRequestsAreAnswered(t *testing.T) {
	pairs := fenced.FindAllStringSubmatch(readme(t), -1)
	if len(pairs) < 4 {
		t.Fatalf("README.md shows only %d requests", len(pairs))
	}
	for _, pair := range pairs {
		t.Run(strings.SplitN(pair[1], "?", 2)[0], func(t *testing.T) {
			s := newTestServer(t)
			switch {
			case strings.Contains(pair[1], "/reports"):
				s = newTestServer(t, "scheduled reports")
			case strings.Contains(pair[1], "/imports"):
				s = newTestServer(t, "imports")
			case strings.Contains(pair[1], "/metrics"):
				s = newTestServer(t, "metrics")
			case strings.Contains(pair[1], "Authorization: "):
				s = newTestServer(t, "keys")
			}
			got := string(s.send(t, examples.ReadMessage(pair[1])).body)
			got = strings.TrimRight(strings.ReplaceAll(got, "\r\n", "\n"), "\n")
			if diff := cmp.Diff(pair[3], got); diff != "" {
				t.Errorf("answer (-README +server):\n%s", diff)
			}
		})
	}
}
