package logformat

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/goldentest"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
)

// logFiles maps each format to a file with a few lines that contain all its special cases. testdata/<file>.golden
// contains their records, as the API prints them.
var logFiles = map[string]string{
	"combined": "combined.log",
	"alb":      "alb.log",
	"aws-waf":  "aws-waf.jsonl",
	"caddy":    "caddy.jsonl",
	"envoy":    "envoy.log",
	"istio":    "istio.log",
	"w3c":      "w3c.log",

	"cloudfront":   "cloudfront.log",
	"nginx-json":   "nginx-json.jsonl",
	"haproxy-http": "haproxy-http.log",
}

func TestConvert(t *testing.T) {
	for format, file := range logFiles {
		t.Run(format, func(t *testing.T) {
			content, err := os.ReadFile(filepath.Join("testdata", file))
			if err != nil {
				t.Fatal(err)
			}
			f, err := Detect(content)
			if err != nil || f.Name() != format {
				t.Fatalf("detected as %v, %v", f, err)
			}
			got := formatRecords(t, recordsOf(t, f, string(content)))
			goldentest.Compare(t, filepath.Join("testdata", file+".golden"), got)
		})
	}
}

// recordsOf returns the records of the lines of a log, by time, as the API prints them.
func recordsOf(t *testing.T, f Format, content string) []string {
	t.Helper()
	decoder := record.NewDecoder()
	var rows []lake.Row
	for line := range strings.Lines(content) {
		line = strings.TrimSuffix(line, "\n")
		if d, ok := f.(Directed); ok {
			if next, ok := d.After([]byte(line)); ok {
				f = next
				continue
			}
		}
		text, err := f.Convert(nil, []byte(line))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		row := lake.Row{Line: int64(len(rows) + 1)}
		if _, err := decoder.Decode(text, &row); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		f.Complete(&row)
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b lake.Row) int { return lake.Compare(&a, &b) })
	records := make([]string, len(rows))
	for i := range rows {
		records[i] = string(record.AppendJSON(nil, &rows[i], nil))
	}
	return records
}

// formatRecords prints records with one field per line.
func formatRecords(t *testing.T, records []string) string {
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

func TestConvertRejectsBadLines(t *testing.T) {
	const at, request, alb = ` [17/May/2026:10:05:03 +0000] `, `"GET / HTTP/1.1" `, "http 2026-07-05T04:47:50Z elb "
	tests := []struct{ format, line, want string }{
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
		{"alb", alb + "1.2.3.4:5 - 0.1 0.1 0.1 200", "fields; a load balancer"},
		{"alb", "hello", "1 field; a load balancer"},
		{"alb", alb + `1.2.3.4:5 - 0.1 0.1 0.1 200 200 1 1 "GET http://a:80/ HTTP/1.1`, "ends inside field 13"},
		{"alb", alb + `1.2.3.4:5 - 0.1 0.1 0.1 two 200 1 1 "GET http://a:80/ HTTP/1.1" "-"`, `status is "two"`},
		{"aws-waf", `{"timestamp":1`, "not a record of AWS WAF"},
		{"aws-waf", `{"labels":[{"name":1}]}`, "not a record of AWS WAF"},
		{"aws-waf", `[]`, "not a record of AWS WAF"},
		{"caddy", `{"ts":1`, "not an access log of Caddy"},
		{"caddy", `{"ts":1,"request":{"headers":{"A":"b"}}}`, "not an access log of Caddy"},
		{"caddy", `{"ts":1,"logger":"http.log.access","request":"GET /"}`, "not an access log of Caddy"},
		{"caddy", `{"ts":1,"logger":"tls.cache","msg":"added certificate"}`, `"tls.cache" is not an access log`},
		{"caddy", `{"ts":1,"logger":"http.log.error","request":{"uri":"/"}}`, `"http.log.error" is not an access log`},
		{"caddy", `{"ts":1,"msg":"exit"}`, "no member request"},
		{"w3c", "2026-05-17 10:05:03 GET /", "no directive #Fields"},
		{"cloudfront", "2026-05-17\t10:05:03\tGET\t/", "no directive #Fields"},
		{"cloudfront", `{"date":"2026-05-17"`, "not a record of CloudFront"},
		{"cloudfront", `{"date":"2026-05-17","x-edge-location":"A"}`, "does not list both date and time"},
		{"nginx-json", `{"remote_addr":"1.2.3.4"`, "not a record of nginx-json"},
		{"nginx-json", `{"time_local":"now","remote_addr":"1.2.3.4"}`, "time_local is \"now\", which is not a time"},
		{"nginx-json", `{"msec":"1","remote_addr":"\"1.2.3.4"}`, "neither an address nor a host name"},
		{"nginx-json", `{"msec":"1","status":"ok"}`, "status is \"ok\", which is not a status"},
		{"nginx-json", `{"msec":"1","request":{"method":"GET"}}`, "request is an object"},
	}
	for _, test := range tests {
		t.Run(test.format+"/"+test.want, func(t *testing.T) {
			s, err := ByName(test.format)
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

func TestDetect(t *testing.T) {
	for want, file := range logFiles {
		content, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		text := "\n# a comment\n" + string(content) // one other line does not matter
		if got, err := Detect([]byte(text)); err != nil || got.Name() != want {
			t.Errorf("%s: %v, %v", file, got, err)
		}
	}
}

// TestDetectRecords: objects with a timestamp are records of Orrery's own format only with other members of a record.
func TestDetectRecords(t *testing.T) {
	const at = `{"timestamp":"2026-04-01T10:00:00Z"`
	for name, test := range map[string]struct {
		lines  []string
		native bool
	}{
		"three members":             {[]string{at + `,"ip":"::1","method":"GET","status":200}`}, true},
		"url and hostname":          {[]string{at + `,"url":"a/b","hostname":"a","status":"200"}`}, true},
		"trigger_counters":          {[]string{at + `,"trigger_counters":{"acl":0}}`}, true},
		"security_config":           {[]string{at + `,"security_config":{}}`}, true},
		"processing_stage":          {[]string{at + `,"processing_stage":6}`}, true},
		"in quotes":                 {[]string{strconv.Quote(at + `,"ip":"::1","method":"GET","status":200}`)}, true},
		"a timestamp alone":         {[]string{at + `}`}, false},
		"two members":               {[]string{at + `,"ip":"::1","status":200}`}, false},
		"path and url are one":      {[]string{at + `,"path":"/","url":"a/","host":"a"}`}, false},
		"members of a wrong type":   {[]string{at + `,"ip":{"a":1},"method":"GET","host":{"name":"a"},"status":"ok"}`}, false},
		"inner members":             {[]string{at + `,"r":{"ip":"::1","method":"GET","status":200}}`}, false},
		"a timestamp that is null":  {[]string{`{"timestamp":null,"ip":"::1","method":"GET","status":200}`}, false},
		"a counter of a wrong type": {[]string{at + `,"trigger_counters":7}`}, false},
		"a line that is cut off":    {[]string{at + `,"ip":"::1","method":"GET","status":200,"query":"?`}, true},
		"as many others": {
			[]string{at + `,"ip":"::1","method":"GET","status":200}`, at + `,"load":1}`}, false,
		},
		"another that is cut off": {
			[]string{at + `,"ip":"::1","method":"GET","status":200}`, at + `,"load":`}, true,
		},
		"fewer others": {
			[]string{at + `,"ip":"::1","method":"GET","status":200}`, at + `,"load":1}`, at + `,"processing_stage":1}`}, true,
		},
		"other lines": {[]string{"x", at + `,"processing_stage":1}`, "y"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Detect([]byte(strings.Join(test.lines, "\n") + "\n"))
			if native := err == nil && got.Name() == "orrery"; native != test.native {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

// TestConvertClients converts the words with which Apache and nginx log clients and virtual hosts.
func TestConvertClients(t *testing.T) {
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
		{" 192.0.2.7", "192.0.2.7", ""},                           // an nginx server with an empty name
		{"192.0.2.7 shop.example -", "192.0.2.7", "shop.example"}, // lighttpd, and so on
		{"192.0.2.7 www.shop.pizza -", "192.0.2.7", "www.shop.pizza"},
		{"192.0.2.7 shop:8080 -", "192.0.2.7", "shop"},
		{"192.0.2.7 localhost -", "192.0.2.7", "localhost"},
		{"192.0.2.7 198.51.100.1 -", "192.0.2.7", "198.51.100.1"},
		{"192.0.2.7 [2001:db8::1]:80 -", "192.0.2.7", "[2001:db8::1]"},
		{"client.example shop.example ann", "client.example", "shop.example"},
		{"192.0.2.7 www-data -", "192.0.2.7", ""}, // names of identd
		{"192.0.2.7 ann.smith -", "192.0.2.7", ""},
		{"192.0.2.7 ann@shop.example -", "192.0.2.7", ""},
		{"192.0.2.7 SHOP\\ann -", "192.0.2.7", ""},
		{"192.0.2.7 UNKNOWN-ERROR -", "192.0.2.7", ""},
		{"shop.example 192.0.2.7 ann.example -", "192.0.2.7", "shop.example"},
	}
	for _, test := range tests {
		t.Run(test.words, func(t *testing.T) {
			line := test.words + rest
			if words := strings.Fields(test.words); len(words) > 2 {
				line = test.words + strings.TrimPrefix(rest, " - -")
			}
			text, err := combined{}.Convert(nil, []byte(line))
			if err != nil {
				t.Fatal(err)
			}
			var got struct{ IP, Host, Ident string }
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			if got.IP != test.ip || got.Host != test.host {
				t.Errorf("ip %q, host %q", got.IP, got.Host)
			}
			if words := strings.Fields(test.words); len(words) == 3 && (got.Host == "") != (got.Ident == words[1]) {
				t.Errorf("ident %q", got.Ident)
			}
		})
	}
}

// wrappedLines are lines that some exports put into quotes, each with the original line. The original is empty if the
// line is invalid.
var wrappedLines = func() [][2]string {
	const scan = `192.0.2.25 - - [22/Dec/2016:16:30:52 +0300] ` +
		`"GET /?q=%f0''%f0\"\"&b=\x16 HTTP/1.1" 303 382 "http://a/" "X (11)"`
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

func TestConvertQuotedLines(t *testing.T) {
	for _, wrapped := range wrappedLines {
		line, bare := []byte(wrapped[0]), []byte(wrapped[1])
		got, err := combined{}.Convert(nil, line)
		if len(bare) == 0 {
			if err == nil || (combined{}).Matches(line) {
				t.Errorf("%s is accepted: %s", line, got)
			}
			continue
		}
		if err != nil || !(combined{}).Matches(line) {
			t.Errorf("%s: %v", line, err)
			continue
		}
		want, err := combined{}.Convert(nil, bare)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
}

// notClients are the beginnings of lines that only look like lines of an access log.
var notClients = []string{
	`"1.2.3.4`, "1.2.3.4:5", "300.1.2.3", "a\x00b", "May 17 10:05:03 web nginx: 1.2.3.4",
	"access.log\x00\x000000644\x00ustar\x0000",
}

func TestDetectRefusesSimilarLogs(t *testing.T) {
	const rest = ` - - [17/May/2026:10:05:03 +0000] "GET / HTTP/1.1" 200 1`
	for _, client := range notClients {
		if got, err := Detect([]byte(client + rest + "\n")); err == nil {
			t.Errorf("%s is detected as %s", client, got.Name())
		}
	}
}

// FuzzConvert converts any line with every format. The result must be a rejection, or JSON that the decoder does not
// reject for its syntax, unless the line itself was JSON.
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
		for _, s := range Formats {
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
			isSyntax := errors.As(err, &reject) && (reject.Code == record.BadJSON || reject.Code == record.NotObject)
			if isSyntax && s.Name() != "orrery" {
				t.Fatalf("%s converts %q to an invalid record: %s: %v", s.Name(), line, text, err)
			}
			if err == nil {
				s.Complete(&row)
			}
		}
	})
}
