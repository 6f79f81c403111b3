package datadir

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
)

func TestImportQuotedExport(t *testing.T) {
	s := openStore(t, t.TempDir())
	var b strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, `"192.0.2.25 - - [22/Dec/2016:16:30:%02d +0300] "GET / HTTP/1.1" 200 5 "-" "x""`+"\n", i)
	}
	report := importText(t, s, b.String(), ingest.Options{})
	if report.Format != "combined" || report.Records != 30 || report.RejectedLines() != 0 {
		t.Errorf("%+v", report)
	}
	for _, row := range rowsOf(t, s) {
		if *row.IP != "192.0.2.25" || *row.UserAgent != "x" {
			t.Fatalf("address %q, user agent %q", *row.IP, *row.UserAgent)
		}
	}
}

func TestImportSkipsByteOrderMark(t *testing.T) {
	for _, line := range []string{lines(0, 1), accessLines(1)} {
		s := openStore(t, t.TempDir())
		concatenated := "\xef\xbb\xbf" + line + "\xef\xbb\xbf" + line
		if report := importText(t, s, concatenated, ingest.Options{}); report.Records != 2 || report.RejectedLines() != 0 {
			t.Errorf("%+v", report)
		}
	}
}

func TestImportBuildsURLWithDefaultHost(t *testing.T) {
	s := openStore(t, t.TempDir())
	line := `1.2.3.4 - - [17/May/2026:10:05:03 +0000] "GET /a?b HTTP/1.1" 200 1` + "\n"
	importText(t, s, line, ingest.Options{Defaults: []ingest.Default{
		{Field: "host", Value: "blog.example"},
		{Field: "result", Value: "Passed"},
	}})
	if row := rowsOf(t, s)[0]; *row.URL != "blog.example/a" || *row.Host != "blog.example" || *row.Result != "Passed" {
		t.Error(records(t, s))
	}
}

// realLogs returns a folder of real logs next to the project. The logs are not part of the project.
func realLogs(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		logs := filepath.Join(dir, "shared", "logs")
		if _, err := os.Stat(filepath.Join(logs, "README.md")); err == nil {
			return logs
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Skip("there are no real logs next to the project")
		}
		dir = parent
	}
}

func TestImportRealLogs(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: skipped with -short, for the race detector")
	}
	logs := realLogs(t)
	tests := []struct {
		file, format string
		records      int64
		samples      map[int]string // fields of records, by line
	}{
		{"semicomplete-2015.combined.log.gz", "combined", 10_000, map[int]string{
			1: `{"bytes_sent":203023,"ip":"83.149.79.11","method":"GET","path":"/presentations/logstash-monitorama-2013/images/kibana-search.png",` +
				`"protocol":"HTTP/1.1","status":200,"timestamp":"2015-05-17T10:05:03Z","referer":"http://semicomplete.com/presentations/logstash-monitorama-2013/"}`,
			8899: `{"log_line_cut":true,"status":200,"bytes_sent":235,"user_agent":"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html"}`,
		}},
		{"hackers-2015.combined.log.gz", "combined", 3_456, map[int]string{
			1: `{"ip":"195.154.252.26","timestamp":"2015-10-25T03:11:25Z","status":200,"bytes_sent":24323,"referer":"http://howto.basjes.nl/","path":"/linux/doing-pxe-without-dhcp-control"}`,
		}},
		{"aws-waf-shop.jsonl.gz", "aws-waf", 228, map[int]string{
			1: `{"timestamp":"2023-04-24T22:16:46.245Z","blocked":false,"result":"Passed",` +
				`"ip":"X.X.X.X","country":"Turkey","path":"/socket.io/","query":"?EIO=4&transport=polling&t=Nlqwc3G",` +
				`"arguments":{"EIO":"4","transport":"polling","t":"Nlqwc3G"},"cookies":{"language":"en","welcomebanner_status":"dismiss"},` +
				`"host":"XXXXXXXXXXXXXX.cloudfront.net","request_id":"gZJj4wpufhS763rL5pV0VcpGwg-nb1gU75pZcHc1oPuxdOlruwNfOw==","httpSourceName":"CF","responseCodeSent":null}`,
		}},
		{"alb-scan.log.gz", "alb", 63, map[int]string{
			1: `{"timestamp":"2022-07-05T04:47:50.273035Z","ip":"20.78.21.143","host":"54.186.209.42","port":"80","path":"//_profiler/phpinfo","status":404,"bytes_sent":696,` +
				`"request_length":472,"request_time":0.001,"svc_latency":1000,"upstream_response_time":0.000,"upstream_addr":["192.168.84.111:80"],"upstream_status":[404],` +
				`"request_id":"Root=1-62c3c276-7ebec4d5497565d773421350","url":"54.186.209.42//_profiler/phpinfo"}`,
		}},
	}
	for _, test := range tests {
		t.Run(test.file, func(t *testing.T) {
			s := openStore(t, t.TempDir())
			f, err := os.Open(filepath.Join(logs, test.file))
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := f.Close(); err != nil {
					t.Error(err)
				}
			}()
			report, err := s.Import(t.Context(), test.file, f, ingest.Options{})
			if err != nil || report.Format != test.format ||
				report.Records != test.records || report.RejectedLines() != 0 {
				t.Fatalf("%+v, %v", report, err)
			}
			rows := rowsOf(t, s)
			for _, row := range rows {
				if want, ok := test.samples[int(row.Line)]; ok {
					checkSample(t, want, string(record.AppendJSON(nil, &row, nil)))
				}
			}
			if test.format == "combined" {
				checkBytesSent(t, f, rows)
			}
		})
	}
}

// checkSample compares the fields of want with the same fields of got, as JSON values.
func checkSample(t *testing.T, want, got string) {
	t.Helper()
	var wanted, all map[string]any
	if err := errors.Join(json.Unmarshal([]byte(want), &wanted), json.Unmarshal([]byte(got), &all)); err != nil {
		t.Fatal(err)
	}
	for name, value := range wanted {
		if diff := cmp.Diff(value, all[name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// checkBytesSent compares the sum of the bytes sent in the rows with the sum that it computes from a combined log
// itself.
func checkBytesSent(t *testing.T, f *os.File, rows []lake.Row) {
	t.Helper()
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	var want, got int64
	for line := range strings.Lines(string(text)) {
		_, after, _ := strings.Cut(line, `" `)
		words := strings.Fields(after)
		var n int64
		if words[1] != "-" {
			if err := json.Unmarshal([]byte(words[1]), &n); err != nil {
				t.Fatal(line, err)
			}
		}
		want += n
	}
	for _, row := range rows {
		got += *row.BytesSent
	}
	if got != want {
		t.Errorf("bytes_sent adds up to %d, in the log to %d", got, want)
	}
}
