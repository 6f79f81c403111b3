package ingest

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
)

var update = flag.Bool("update", false, "write the golden files")

// logFiles are a few lines of each format with everything that is special about it; testdata/<file>.golden shows the
// records they become, as the API prints them.
var logFiles = map[string]string{"combined": "combined.log", "alb": "alb.log", "aws-waf": "aws-waf.jsonl"}

func TestLinesBecomeRecords(t *testing.T) {
	for format, file := range logFiles {
		t.Run(format, func(t *testing.T) {
			content, err := os.ReadFile(filepath.Join("testdata", file))
			if err != nil {
				t.Fatal(err)
			}
			s := openStore(t, t.TempDir())
			report := importText(t, s, string(content), Options{})
			if report.Format != format || report.RejectedLines() != 0 || int(report.Records) != strings.Count(string(content), "\n") {
				t.Errorf("%+v", report)
			}
			golden := filepath.Join("testdata", file+".golden")
			got := pretty(t, records(t, s))
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// pretty prints records with one field a line.
func pretty(t *testing.T, records []string) string {
	t.Helper()
	var b strings.Builder
	for _, text := range records {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &fields); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		b.WriteString("record\n")
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			b.WriteString("  " + name + " " + string(fields[name]) + "\n")
		}
	}
	return b.String()
}

func TestBadLinesAreRejected(t *testing.T) {
	const at, request, alb = ` [17/May/2026:10:05:03 +0000] `, `"GET / HTTP/1.1" `, "http 2026-07-05T04:47:50Z elb "
	tests := []struct{ source, line, want string }{
		{"combined", "", "no time in brackets"},
		{"combined", "1.2.3.4 - - [17/May/2026:10:05:03 +0000", "no time in brackets"},
		{"combined", "1.2.3.4 - - [17/Mai/2026:10:05:03 +0000] " + request + "200 1", "is not a time"},
		{"combined", "1.2.3.4 - - [31/Jun/2026:10:05:03 +0000] " + request + "200 1", "is not a time"},
		{"combined", "1.2.3.4 -" + at + request + "200 1", "fewer than three words"},
		{"combined", `"1.2.3.4 - -` + at + request + "200 1", `"\"1.2.3.4" is neither an address nor a host name`},
		{"combined", `"1.2.3.4" - -` + at + request + `200 1 "-" "x"`, `"1.2.3.4\"" is neither an address`},
		{"combined", "1.2.3.4:5678 - -" + at + request + "200 1", "is neither an address"},
		{"combined", "[::1] - -" + at + request + "200 1", "is neither an address"},
		{"combined", "168.4.25 - -" + at + request + "200 1", "is neither an address"},
		{"combined", "300.1.2.3 - -" + at + request + "200 1", "is neither an address"},
		{"combined", "1.2.3.4, 10.0.0.1, 10.0.0.2 - -" + at + request + "200 1", "is neither an address"},
		{"combined", "1.2.3.4, 10.0.0.1 - -" + at + request + "200 1", "is neither a virtual host"},
		{"combined", "May 17 10:05:03 web nginx: 1.2.3.4 - -" + at + request + "200 1", "a header of syslog"},
		{"combined", "Jun  7 10:05:03 web nginx: 1.2.3.4 - -" + at + request + "200 1", "a header of syslog"},
		{"combined", "a\x00b - -" + at + request + "200 1", "is neither an address"},
		{"combined", "unix:/run/x.sock - -" + at + request + "200 1", "is neither an address"},
		{"combined", "1.2.3.4 - -" + at + `GET / HTTP/1.1 200 1`, "no request in quotes"},
		{"combined", "1.2.3.4 - -" + at + `"GET / HTTP/1.1 200 1`, "no request in quotes"},
		{"combined", "1.2.3.4 - -" + at + request + "2x0 1", "no status"},
		{"combined", "1.2.3.4 - -" + at + request + "200", "no number of bytes"},
		{"combined", "1.2.3.4 - -" + at + request + "200 1e9", "no number of bytes"},
		{"alb", alb + "1.2.3.4:5 - 0.1 0.1 0.1 200", "fields, where"},
		{"alb", alb + `1.2.3.4:5 - 0.1 0.1 0.1 200 200 1 1 "GET http://a:80/ HTTP/1.1`, "ends inside field 13"},
		{"alb", alb + `1.2.3.4:5 - 0.1 0.1 0.1 two 200 1 1 "GET http://a:80/ HTTP/1.1" "-"`, `status is "two"`},
		{"aws-waf", `{"timestamp":1`, "not a record of AWS WAF"},
		{"aws-waf", `{"labels":[{"name":1}]}`, "not a record of AWS WAF"},
		{"aws-waf", `[]`, "not a record of AWS WAF"},
	}
	for _, test := range tests {
		t.Run(test.source+"/"+test.want, func(t *testing.T) {
			s, err := SourceByName(test.source)
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Convert(nil, []byte(test.line))
			var reject *record.Reject
			if !errors.As(err, &reject) || !strings.Contains(reject.Message, test.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestDetectionTellsTheFormats(t *testing.T) {
	for want, file := range logFiles {
		content, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		text := "\n# a comment\n" + string(content) // one odd line does not matter
		if got, err := detect([]byte(text)); err != nil || got.Name() != want {
			t.Errorf("%s: %v, %v", file, got, err)
		}
	}
	if got, err := detect([]byte(lines(0, 3))); err != nil || got.Name() != "orrery" {
		t.Errorf("%v, %v", got, err)
	}
}

func TestClientsThatServersLog(t *testing.T) {
	const rest = ` - - [17/May/2026:10:05:03 +0000] "GET /a HTTP/1.1" 200 1`
	tests := []struct{ words, ip, host string }{
		{"192.0.2.7", "192.0.2.7", ""},
		{"2001:db8::7", "2001:db8::7", ""},
		{"fe80::1%eth0", "fe80::1%eth0", ""},
		{"::ffff:192.0.2.7", "::ffff:192.0.2.7", ""},
		{"client.example", "client.example", ""},
		{"client_7.example.", "client_7.example.", ""},
		{"localhost", "localhost", ""},
		{"192-0-2-7.dyn.4u.example", "192-0-2-7.dyn.4u.example", ""},
		{"unix:", "unix:", ""},
		{"-", "", ""},
		{"shop.example:443 192.0.2.7", "192.0.2.7", "shop.example"},
		{"192.0.2.1:80 2001:db8::7", "2001:db8::7", "192.0.2.1"},
		{"[2001:db8::1]:80 192.0.2.7", "192.0.2.7", "[2001:db8::1]"},
		{"*.shop.example 192.0.2.7", "192.0.2.7", "*.shop.example"},
		{"_ 192.0.2.7", "192.0.2.7", "_"},
		{"- 192.0.2.7", "192.0.2.7", ""},
		{" 192.0.2.7", "192.0.2.7", ""}, // a server of nginx with an empty name
	}
	for _, test := range tests {
		t.Run(test.words, func(t *testing.T) {
			text, err := combinedSource{}.Convert(nil, []byte(test.words+rest))
			if err != nil {
				t.Fatal(err)
			}
			var got struct{ IP, Host string }
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			if got.IP != test.ip || got.Host != test.host {
				t.Errorf("ip %q, host %q", got.IP, got.Host)
			}
		})
	}
}

// wrappedLines are lines that some exports put into quotes, and the lines that they were before.
var wrappedLines = func() [][2]string {
	const scan = `192.0.2.25 - - [22/Dec/2016:16:30:52 +0300] "GET /?q=%f0''%f0\"\"&b=\x16 HTTP/1.1" 303 382 "http://a/" "X (11)"`
	const empty = `192.0.2.25 - - [22/Dec/2016:16:30:53 +0300] "" 400 0 "-" "-"`
	const common = `shop.example 192.0.2.25 - - [22/Dec/2016:16:30:54 +0300] "GET /\xff HTTP/1.1" 200 5`
	lines := [][2]string{
		{`"` + scan + `" `, scan},
		{`"` + strings.ReplaceAll(strings.TrimSuffix(scan, `"`), `"`, `\"`), ""}, // not closed
		{`"192.0.2.25 - - [22/Dec/2016:16:30:52 +0300] \"GET /?a=1\u0026b=<\u003e HTTP/1.1\" 200 5 \"-\" \"x\"\n"`,
			`192.0.2.25 - - [22/Dec/2016:16:30:52 +0300] "GET /?a=1&b=<> HTTP/1.1" 200 5 "-" "x"`},
		{`"192.0.2.25 - - [22/Dec/2016:16:30:52 +0300] \"GET /\xff HTTP/1.1\" 200 5 \"-\" \"x\""`,
			`192.0.2.25 - - [22/Dec/2016:16:30:52 +0300] "GET /\xff HTTP/1.1" 200 5 "-" "x"`},
	}
	for _, line := range []string{scan, empty, common} {
		lines = append(lines,
			[2]string{`"` + line + `"`, line},
			[2]string{`"` + strings.ReplaceAll(line, `"`, `""`) + `"`, line},
			[2]string{`"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(line) + `"`, line})
	}
	return lines
}()

func TestQuotesRoundWholeLinesAreStripped(t *testing.T) {
	for _, wrapped := range wrappedLines {
		line, bare := []byte(wrapped[0]), []byte(wrapped[1])
		got, err := combinedSource{}.Convert(nil, line)
		if len(bare) == 0 {
			if err == nil || (combinedSource{}).Matches(line) {
				t.Errorf("%s is taken: %s", line, got)
			}
			continue
		}
		if err != nil || !(combinedSource{}).Matches(line) {
			t.Errorf("%s: %v", line, err)
			continue
		}
		want, err := combinedSource{}.Convert(nil, bare)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
}

func TestAnExportInQuotesHasAddressesWithoutThem(t *testing.T) {
	s := openStore(t, t.TempDir())
	var b strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, `"192.0.2.25 - - [22/Dec/2016:16:30:%02d +0300] "GET / HTTP/1.1" 200 5 "-" "x""`+"\n", i)
	}
	report := importText(t, s, b.String(), Options{})
	if report.Format != "combined" || report.Records != 30 || report.RejectedLines() != 0 {
		t.Errorf("%+v", report)
	}
	for _, row := range rowsOf(t, s) {
		if *row.IP != "192.0.2.25" || *row.UserAgent != "x" {
			t.Fatalf("address %q, user agent %q", *row.IP, *row.UserAgent)
		}
	}
}

func TestDetectionSkipsAByteOrderMark(t *testing.T) {
	for _, line := range []string{lines(0, 1), accessLines(1)} {
		s := openStore(t, t.TempDir())
		if report := importText(t, s, "\xef\xbb\xbf"+line, Options{}); report.Records != 1 {
			t.Errorf("%+v", report)
		}
	}
}

// notClients are what lines may begin with that only look like those of an access log.
var notClients = []string{
	`"1.2.3.4`, "1.2.3.4:5", "300.1.2.3", "a\x00b", "May 17 10:05:03 web nginx: 1.2.3.4",
	"access.log\x00\x000000644\x00ustar\x0000",
}

func TestLogsThatOnlyLookCombinedAreNotDetected(t *testing.T) {
	const rest = ` - - [17/May/2026:10:05:03 +0000] "GET / HTTP/1.1" 200 1`
	for _, client := range notClients {
		if got, err := detect([]byte(client + rest + "\n")); err == nil {
			t.Errorf("%s is detected as %s", client, got.Name())
		}
	}
}

func TestURLFollowsTheHostThatWasSet(t *testing.T) {
	s := openStore(t, t.TempDir())
	line := `1.2.3.4 - - [17/May/2026:10:05:03 +0000] "GET /a?b HTTP/1.1" 200 1` + "\n"
	importText(t, s, line, Options{Defaults: []Default{{"host", "blog.example"}, {"result", "Passed"}}})
	if row := rowsOf(t, s)[0]; *row.URL != "blog.example/a" || *row.Host != "blog.example" || *row.Result != "Passed" {
		t.Error(records(t, s))
	}
}

// FuzzConvert feeds any line to every format: what it gives must be a rejection or JSON that the decoder accepts or
// rejects for its time or size, never for its form, unless the line itself was JSON.
func FuzzConvert(f *testing.F) {
	for _, file := range logFiles {
		content, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.Lines(string(content)) {
			f.Add(strings.TrimSuffix(line, "\n"))
		}
	}
	for _, wrapped := range wrappedLines {
		f.Add(wrapped[0])
	}
	for _, client := range append([]string{"1.2.3.4, 10.0.0.1", "unix:", "-"}, notClients...) {
		f.Add(client + ` - - [17/May/2026:10:05:03 +0000] "GET / HTTP/1.1" 200 1`)
	}
	decoder := record.NewDecoder()
	f.Fuzz(func(t *testing.T, line string) {
		for _, s := range Sources {
			s.Matches([]byte(line))
			text, err := s.Convert(nil, []byte(line))
			var reject *record.Reject
			if err != nil {
				if !errors.As(err, &reject) {
					t.Fatalf("%s: %v", s.Name(), err)
				}
				continue
			}
			var row lake.Row
			_, err = decoder.Decode(text, &row)
			if errors.As(err, &reject) && s.Name() != "orrery" && (reject.Code == record.BadJSON || reject.Code == record.NotObject) {
				t.Fatalf("%s made of %q what is no record: %s: %v", s.Name(), line, text, err)
			}
			if err == nil {
				s.Complete(&row)
			}
		}
	})
}

// realLogs looks for a folder of real logs beside the project; they are not part of it.
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
			t.Skip("no real logs beside the project")
		}
		dir = parent
	}
}

func TestRealLogsImportWithoutRejects(t *testing.T) {
	logs := realLogs(t)
	tests := []struct {
		file, format string
		records      int64
		samples      map[int]string // line → part of the record that it must have
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
			1: `{"timestamp":"2023-04-24T22:16:46.245Z","blocked":false,"result":"Passed","ip":"X.X.X.X","country":"TR","path":"/socket.io/","query":"?EIO=4&transport=polling&t=Nlqwc3G",` +
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
			report, err := s.Import(t.Context(), test.file, f, Options{})
			if err != nil || report.Format != test.format || report.Records != test.records || report.RejectedLines() != 0 {
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

// checkSample compares the fields of want with those of got, by JSON value.
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

// checkBytesSent compares the bytes sent, summed over a combined log by other means, with the lake's.
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
		t.Errorf("bytes_sent sums to %d, in the log to %d", got, want)
	}
}
