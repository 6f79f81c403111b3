package logformat

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
	"github.com/orrery/orrery/shared/testkit/goldentest"
)

const (
	apacheCombined = `%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"`
	nginxCombined  = `$remote_addr - $remote_user [$time_local] "$request" ` +
		`$status $body_bytes_sent "$http_referer" "$http_user_agent"`
)

// TestLayouts converts the logs in testdata/layouts. The first line of a log is its format string.
func TestLayouts(t *testing.T) {
	files, err := filepath.Glob("testdata/layouts/*.log")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d logs, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".log"), func(t *testing.T) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			format, lines, _ := strings.Cut(string(content), "\n")
			f, err := ByName(format)
			if err != nil {
				t.Fatal(err)
			}
			if f.Name() != format {
				t.Errorf("the name is %s", f.Name())
			}
			goldentest.Compare(t, file+".golden", formatRecords(t, recordsOf(t, f, lines)))
		})
	}
}

// TestLayoutsOfCombined compares the combined format, written as a format string, with the format combined.
func TestLayoutsOfCombined(t *testing.T) {
	content, err := os.ReadFile("testdata/combined.log")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		apacheCombined,
		nginxCombined,
		`LogFormat "%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\"" combined`,
		`"%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\""`,
		`%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\"`,
		"log_format main '$remote_addr - $remote_user [$time_local] \"$request\" '\n" +
			"    '$status ${body_bytes_sent} \"$http_referer\" \"$http_user_agent\"';",
	} {
		f, err := ByName(text)
		if err != nil {
			t.Fatal(err)
		}
		equal := 0
		for line := range strings.Lines(string(content)) {
			line = strings.TrimSuffix(line, "\n")
			got, err := f.Convert(nil, []byte(line))
			if err != nil {
				continue // common format, a virtual host in front, and others
			}
			want, err := combined{}.Convert(nil, []byte(line))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(fieldsOf(t, want), fieldsOf(t, got)); diff != "" {
				t.Errorf("%s\n%s (-combined +format string):\n%s", text, line, diff)
			}
			equal++
		}
		if equal < 4 {
			t.Errorf("%s: only %d lines are of this format", text, equal)
		}
	}
}

// fieldsOf returns the fields of a record that both formats have. The format combined reads more than its name says.
func fieldsOf(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	for _, name := range []string{"ident", "proxy", "request_time", "upstream_response_time"} {
		delete(fields, name)
	}
	return fields
}

func TestLayoutErrors(t *testing.T) {
	for text, want := range map[string]string{
		`%h "%r" %>s`:                    "no variable of the time",
		`$remote_addr $status`:           "no variable of the time",
		`%h%u %t`:                        "no text between %h and %u",
		`$remote_addr$status [$msec]`:    "no text between $remote_addr and $status",
		`%h %t %Z`:                       "%Z is not a variable of Apache",
		`%h %{%j}t`:                      "cannot be read back",
		`%t %{min}T`:                     "not a unit of durations",
		`%t %`:                           "no variable of Apache begins with",
		`$msec $`:                        "no name of a variable follows the dollar sign",
		"log_format main '$remote_addr'": "no variable of the time",
	} {
		if _, err := ByName(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestLayoutRejectsBadLines(t *testing.T) {
	const at = ` - ann [17/May/2026:10:05:03 +0000] `
	for _, test := range []struct{ format, line, want string }{
		{apacheCombined, "", `no " " after %h`},
		{apacheCombined, `1.2.3.4:5` + at + `"GET / HTTP/1.1" 200 1 "-" "-"`, "neither an address nor a host name"},
		{apacheCombined, `1.2.3.4` + at + `"GET / HTTP/1.1" 2x0 1 "-" "-"`, "not a status"},
		{apacheCombined, `1.2.3.4` + at + `"GET / HTTP/1.1" 200 1e3 "-" "-"`, "not a number of bytes"},
		{apacheCombined, `1.2.3.4` + at + `"GET / HTTP/1.1" 200 1 "-" "x`, `no "\"" after %{User-Agent}i`},
		{apacheCombined, `1.2.3.4 - - [31/Jun/2026:10:05:03 +0000] "GET / HTTP/1.1" 200 1 "-" "x"`, "not a time like"},
		{`<$msec> $request_time`, "1.0> 1", `does not begin with "<"`},
		{`$msec $request_time`, "now 1", "not a time"},
		{`$msec $request_time`, "- 1", "$msec is empty"},
		{`$msec $request_time`, "1767225600.123 fast", "not a duration"},
		{`$msec $request_time`, "1767225600.123 1e9", "not a duration"},
		{`$msec $upstream_status`, "1767225600.123 200, x", "not a list of statuses"},
		{`$msec $upstream_response_time`, "1767225600.123 0.1, x", "not a list of durations"},
	} {
		t.Run(test.want, func(t *testing.T) {
			f, err := ByName(test.format)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := f.Convert(nil, []byte(test.line)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: %s, %v", test.line, got, err)
			}
		})
	}
}

// FuzzFormatString: every format string is refused or converts lines to JSON, and refuses other lines with a reason.
func FuzzFormatString(f *testing.F) {
	files, err := filepath.Glob("testdata/layouts/*.log")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		format, lines, _ := strings.Cut(string(content), "\n")
		for line := range strings.Lines(lines) {
			f.Add(format, strings.TrimSuffix(line, "\n"))
		}
	}
	decoder := record.NewDecoder()
	f.Fuzz(func(t *testing.T, format, line string) {
		layout, err := ByFormatString(format)
		if err != nil {
			return
		}
		text, err := layout.Convert(nil, []byte(line))
		var reject *record.Reject
		if err != nil {
			if !errors.As(err, &reject) {
				t.Fatal(err)
			}
			return
		}
		var row lake.Row
		_, err = decoder.Decode(text, &row)
		if errors.As(err, &reject) && (reject.Code == record.BadJSON || reject.Code == record.NotObject) {
			t.Fatalf("%s: %v", text, err)
		}
	})
}
