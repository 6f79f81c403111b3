package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// realLogs is a folder of real logs that may lie beside the repository; they are not part of it.
func realLogs(t *testing.T) string {
	t.Helper()
	folder, err := filepath.Abs("../../../shared/logs")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(folder); err != nil {
		t.Skip("no real logs beside the repository")
	}
	return folder
}

// TestRealLogs imports real logs with the real command and asks the real server about them. The figures were counted
// in the logs with other tools (grep, awk, zcat).
func TestRealLogs(t *testing.T) {
	logs := realLogs(t)
	data := filepath.Join(t.TempDir(), "data")
	for name, want := range map[string]string{
		"semicomplete-2015.combined.log.gz": "10000 records in 84 partitions, 0 rejected",
		"hackers-2015.combined.log.gz":      "3456 records in 131 partitions, 0 rejected",
		"aws-waf-shop.jsonl.gz":             "228 records in 1 partitions, 0 rejected",
		"alb-scan.log.gz":                   "63 records in 1 partitions, 0 rejected",
	} {
		out, stderr, code := orrery(t, "", "import", "--data", data, "--set", "branch=prod", filepath.Join(logs, name))
		if code != exitDone || !strings.Contains(out, want) {
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
		{"records of the branch that was set", "timestamp between 2015-01-01 and 2024-01-01, branch=prod", 10000 + 3456 + 228 + 63},
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
