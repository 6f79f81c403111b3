package main

import (
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
)

// TestSavedFilters saves a filter, queries with it in a folder and on a server, and deletes it.
func TestSavedFilters(t *testing.T) {
	data := tourData(t)
	must := func(args ...string) (stdout, stderr string) {
		t.Helper()
		stdout, stderr, code := orrery(t, "", args...)
		if code != exit.Done {
			t.Fatalf("%s: exit code %d, %s", strings.Join(args, " "), code, stderr)
		}
		return stdout, stderr
	}
	results := func(args ...string) int {
		t.Helper()
		flags := []string{"query", "logs", "--limit", "2500", "--format", "ndjson", "--fields", "status,method"}
		stdout, _ := must(append(flags, args...)...)
		return strings.Count(stdout, "\n")
	}
	stdout, stderr := must("filter", "put", "refused", "status >= 400", "--title", "Refused", "--data", data)
	if stdout != "status>=400\n" || !strings.HasPrefix(stderr, `ETag: "1-`) {
		t.Errorf("put: %s%s", stdout, stderr)
	}
	must("filter", "put", "posts", `{"field":"method","op":"eq","value":"POST"}`, "--data", data)
	if stdout, _ := must("filter", "list", "--data", data); !strings.Contains(stdout, "refused  status>=400") {
		t.Errorf("list: %s", stdout)
	}
	want := results(tourDay+`, status>=400, method="POST"`, "--data", data)
	all := results(tourDay, "--data", data)
	if want == 0 || want == all {
		t.Fatalf("%d of %d records match", want, all)
	}
	s := startServer(t, data, "--no-demo")
	places := map[string][]string{"a folder": {"--data", data}, "a server": {"--url", s.base}}
	for name, at := range places {
		t.Run(name, func(t *testing.T) {
			for _, args := range [][]string{
				{tourDay, "@refused", "@posts"},
				{"@posts", tourDay, "@refused"},
				{tourDay + ", status>=400", "@posts"},
				{
					`[{"field":"timestamp","op":"between","value":["2026-01-01","2026-01-02"]}]`, "@posts", "@refused",
				},
			} {
				if got := results(append(args, at...)...); got != want {
					t.Errorf("%v: %d records, want %d", args, got, want)
				}
			}
		})
	}
	for name, test := range map[string]struct {
		args   []string
		code   int
		stderr string
	}{
		"an unknown name": {
			[]string{"query", "logs", tourDay, "@nothing"}, exit.Failed, `no filter "nothing"`,
		},
		"another configuration": {
			[]string{"query", "logs", tourDay, "@posts", "--config", "x"}, exit.Failed, `no filter "posts"`,
		},
		"two filters": {
			[]string{"query", "logs", tourDay, "status=404"}, exit.Usage, "there are two filters",
		},
		"no period": {
			[]string{"query", "logs", "@posts"}, exit.Failed, "no period",
		},
		"a mistake in a saved filter": {
			[]string{"filter", "put", "a", "hots=a"}, exit.Failed, "^^^^",
		},
		"an outdated ETag": {
			[]string{"filter", "put", "posts", "status=1", "--if-match", `"9-0"`}, exit.Failed, "has changed",
		},
		"deletion with an empty ETag": {
			[]string{"filter", "delete", "posts", "--if-match", ""}, exit.Failed, "If-Match: empty",
		},
		"a name with a capital letter": {
			[]string{"filter", "put", "Posts", "status=1"}, exit.Failed, `name: "Posts" is not`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, stderr, code := orrery(t, "", append(test.args, "--data", data)...)
			if code != test.code || !strings.Contains(stderr, test.stderr) {
				t.Errorf("exit code %d, %s", code, stderr)
			}
		})
	}
	must("filter", "delete", "posts", "--data", data)
	if stdout, _ := must("filter", "versions", "posts", "--data", data); !strings.Contains(stdout, "(deletion)") {
		t.Errorf("versions: %s", stdout)
	}
	if stdout, _ := must("filter", "get", "posts", "--version", "1", "--data", data); stdout != "method=\"POST\"\n" {
		t.Errorf("version 1: %s", stdout)
	}
}
