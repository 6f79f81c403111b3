package logformat

import (
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
)

// timeOf returns the time of the record of a line, as the API prints it, or "" if the line is rejected.
func timeOf(t *testing.T, format, line string) string {
	t.Helper()
	f, err := ByName(format)
	if err != nil {
		t.Fatal(err)
	}
	text, err := Convert(f, nil, []byte(line))
	if err != nil {
		return ""
	}
	var row lake.Row
	if _, err := record.NewDecoder().Decode(text, &row); err != nil {
		return ""
	}
	return strings.Split(string(record.AppendJSON(nil, &row, []string{"timestamp"})), `"`)[3]
}

func TestOffsetsAndLeapSeconds(t *testing.T) {
	const pattern = `pattern:(?P<timestamp>.+)`
	for _, test := range []struct{ format, time, want string }{
		{"combined", "17/May/2026:10:05:03 +2359", "2026-05-16T10:06:03Z"},
		{"combined", "17/May/2026:10:05:03 +2400", ""},
		{"combined", "17/May/2026:10:05:03 -0060", ""},
		{"combined", "31/Dec/2016:23:59:60 +0000", "2017-01-01T00:00:00Z"},
		{"combined", "01/Jan/2017:05:29:60 +0530", "2017-01-01T00:00:00Z"},
		{"combined", "31/Dec/2016:23:59:61 +0000", ""},
		{"combined", "31/Dec/2016:23:58:60 +0000", ""},
		{"combined", "31/Dec/2016:23:59:60 +0100", ""},
		{pattern, "2026-05-17T10:05:03+23:59", "2026-05-16T10:06:03Z"},
		{pattern, "2026-05-17T10:05:03+24:00", ""},
		{pattern, "2026-05-17T10:05:03+0060", ""},
		{pattern, "2026-05-17 10:05:03 -2400", ""},
		{pattern, "2016-12-31 23:59:60,5", "2017-01-01T00:00:00.5Z"},
		{pattern, "2016-12-31 23:59:61", ""},
		{"%{%z %d-%m-%Y %T}t", "+0000 17-05-1999 10:05:03", "1999-05-17T10:05:03Z"},
		{"%{%z %d-%m-%Y %T}t", "+0060 17-05-1999 10:05:03", ""},
		{"orrery", "2026-05-17T10:05:03+24:00", ""},
		{"orrery", "2026-05-17T10:05:03+0060", ""},
		{"orrery", "2016-12-31T23:59:60.5Z", "2017-01-01T00:00:00.5Z"},
		{"orrery", "2016-12-31T23:59:60+01:00", ""},
	} {
		t.Run(test.format+"/"+test.time, func(t *testing.T) {
			line := test.time
			switch test.format {
			case "combined":
				line = "192.0.2.7 - - [" + line + `] "GET / HTTP/1.1" 200 1`
			case "orrery":
				line = `{"timestamp":"` + line + `"}`
			}
			if got := timeOf(t, test.format, line); got != test.want {
				t.Errorf("%s is %q, want %q", line, got, test.want)
			}
		})
	}
}

func TestCombinedWithFractions(t *testing.T) {
	for fraction, want := range map[string]string{".120": ".12", ".123456": ".123456", "": ""} {
		line := "192.0.2.7 - - [17/May/2026:10:05:03" + fraction + ` +0200] "GET / HTTP/1.1" 200 1`
		f, err := Detect([]byte(line))
		if err != nil || f.Name() != "combined" {
			t.Fatalf("%s: %v, %v", line, f, err)
		}
		if got := timeOf(t, "combined", line); got != "2026-05-17T08:05:03"+want+"Z" {
			t.Errorf("%s: %s", line, got)
		}
	}
}

// TestTimesOfFormatStrings: a time has the fraction of the second that any variable of the format string has.
func TestTimesOfFormatStrings(t *testing.T) {
	for _, test := range []struct{ format, line, want string }{
		{"[%{%d/%b/%Y:%H:%M:%S}t.%{usec_frac}t %{%z}t] %h", "[17/May/2026:10:05:03.000125 +0200] -", "2026-05-17T08:05:03.000125Z"},
		{"%{%d/%b/%Y %T}t.%{msec_frac}t %{%z}t %h", "17/May/2026 10:05:03.120 +0200 -", "2026-05-17T08:05:03.12Z"},
		{"%{%S}t.%{usec_frac}t %{%F}t %{%H:%M}t", "03.000125 2026-05-17 10:05", "2026-05-17T10:05:03.000125Z"},
		{"%{%Y}t-%{%m}t-%{%e}t %{%I}t:%{%M}t:%{%S}t %{%p}t", "2026-05-7 10:05:03 PM", "2026-05-07T22:05:03Z"},
		{"%t %{msec_frac}t %h", "[17/May/2026:10:05:03 +0000] 007 -", "2026-05-17T10:05:03.007Z"},
		{"%{usec_frac}t %{msec_frac}t %t", "007125 007 [17/May/2026:10:05:03 +0000]", "2026-05-17T10:05:03.007125Z"},
		{"%{sec}t.%{usec_frac}t %h", "1779012303.000125 -", "2026-05-17T10:05:03.000125Z"},
		{"%{%s}t.%{usec_frac}t %h", "1779012303.000125 -", "2026-05-17T10:05:03.000125Z"},
		{"%{sec}t.%{msec_frac}t", "1779012303.12 -", ""},
		{"%{sec}t", "1779012303", "2026-05-17T10:05:03Z"},
		{"%t %{usec}t %{msec_frac}t", "[17/May/2026:10:05:03 +0000] 1779012303000125 000", "2026-05-17T10:05:03.000125Z"},
		{"%{begin:%F %T}t.%{begin:msec_frac}t %{end:%T}t.%{end:usec_frac}t", "2026-05-17 10:05:03.120 10:05:04.000125",
			"2026-05-17T10:05:03.12Z"},
		{"%{end:sec}t.%{end:msec_frac}t", "1779012303.120", "2026-05-17T10:05:03.120Z"},
		{"%{%F}t %{%T}t.%{msec_frac}t", "2016-12-31 23:59:60.120", "2017-01-01T00:00:00.12Z"},
		{"%{%F %R}t", "2026-05-17 10:05", "2026-05-17T10:05:00Z"},
		{"$msec $remote_addr", "1779012303.120 -", "2026-05-17T10:05:03.120Z"},
		{"$remote_addr [$time_local] $msec", "- [17/May/2026:10:05:03 +0000] 1779012303.120", "2026-05-17T10:05:03.120Z"},
		{"$time_iso8601 $time_local", "2026-05-17T10:05:03+00:00 17/May/2026:10:05:09 +0000", "2026-05-17T10:05:03Z"},
	} {
		t.Run(test.format, func(t *testing.T) {
			if got := timeOf(t, test.format, test.line); got != test.want {
				t.Errorf("%s is %q, want %q", test.line, got, test.want)
			}
		})
	}
}
