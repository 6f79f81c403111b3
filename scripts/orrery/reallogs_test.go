package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
)

// realLogs returns a folder of real logs, which may be next to the repository but is not part of it.
func realLogs(t *testing.T) (folder string, there bool) {
	t.Helper()
	folder, err := filepath.Abs("../../../shared/logs")
	if err != nil {
		t.Fatal(err)
	}
	_, err = os.Stat(folder)
	return folder, err == nil
}

// realCounts lists the contents of the logs, as counted with other tools (grep, awk, zcat).
var realCounts = map[string]struct {
	records int
	period  string
}{
	"semicomplete-2015.combined.log.gz": {10000, "timestamp between 2015-05-17 and 2015-05-21"},
	"hackers-2015.combined.log.gz":      {3456, "timestamp between 2015-10-25 and 2015-10-31"},
	"aws-waf-shop.jsonl.gz":             {228, "timestamp between 2023-04-24 and 2023-04-26"},
	"alb-scan.log.gz":                   {63, "timestamp between 2022-07-05 and 2022-07-06"},
}

// TestRealLogs imports real logs with the real command and queries them on the real server.
func TestRealLogs(t *testing.T) {
	logs, there := realLogs(t)
	if !there {
		t.Skip("there are no real logs next to the repository")
	}
	data := filepath.Join(t.TempDir(), "data")
	for name, counted := range realCounts {
		want := fmt.Sprintf(": %d records, 0 rejected", counted.records)
		out, stderr, code := orrery(t, "", "import", "--data", data, "--set", "branch=prod", filepath.Join(logs, name))
		if code != exit.Done || !strings.Contains(out, want) {
			t.Errorf("import %s exited %d: %s%s, want %q", name, code, out, stderr, want)
		}
	}
	s := startServer(t, data)
	for _, test := range []struct {
		what, filters string
		want          int
	}{
		{"all lines of May 2015", "timestamp between 2015-05-01 and 2015-06-01", 10000},
		{"404s of the blog", "timestamp between 2015-05-01 and 2015-06-01, status=404", 213},
		{"POST requests of October", "timestamp between 2015-10-01 and 2015-12-01, method=POST", 1080},
		{"the WAF's five minutes", "timestamp between 2023-04-24 and 2023-04-26", 228},
		{"the scan, by its path", `timestamp between 2022-07-01 and 2022-08-01, path~"phpinfo"`, 11},
		{
			"records of the branch that was set", "timestamp between 2015-01-01 and 2024-01-01, branch=prod",
			10000 + 3456 + 228 + 63,
		},
	} {
		got := 0.0
		for _, segment := range s.results("stats", test.filters) {
			got += segment["num_of_requests"].(float64)
		}
		if got != float64(test.want) {
			t.Errorf("%s: %v, want %d", test.what, got, test.want)
		}
	}
	if err := s.interrupt(); err != nil {
		t.Errorf("serve ended with %v", err)
	}
}
