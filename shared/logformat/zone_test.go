package logformat

import (
	"strings"
	"testing"
)

// haproxyAt is a line of HAProxy at a time.
func haproxyAt(at string) string {
	return "203.0.113.7:33317 [" + at + `] in a/b 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 "GET / HTTP/1.1"`
}

func TestZones(t *testing.T) {
	const pattern = `pattern:(?P<timestamp>.+)`
	for _, test := range []struct{ zone, format, line, want string }{
		{"Europe/Berlin", "haproxy-http", haproxyAt("17/May/2026:10:05:03.655"), "2026-05-17T08:05:03.655Z"},
		{"Europe/Berlin", "haproxy-http", haproxyAt("17/Jan/2026:10:05:03.655"), "2026-01-17T09:05:03.655Z"},
		{"Europe/Berlin", pattern, "2026-05-17 10:05:03", "2026-05-17T08:05:03Z"},
		{"Europe/Berlin", pattern, "2026-05-17 10:05:03Z", "2026-05-17T10:05:03Z"},
		{"Europe/Berlin", pattern, "2026-05-17 10:05:03 -0700", "2026-05-17T17:05:03Z"},
		{"Europe/Berlin", pattern, "Sun, 17 May 2026 10:05:03 GMT", "2026-05-17T10:05:03Z"},
		{"Europe/Berlin", pattern, "1779012303", "2026-05-17T10:05:03Z"},
		{"Europe/Berlin", "%{%F}t %{%T}t.%{msec_frac}t %h", "2026-05-17 10:05:03.120 -", "2026-05-17T08:05:03.12Z"},
		{"Europe/Berlin", "%t %h", "[17/May/2026:10:05:03 +0000] -", "2026-05-17T10:05:03Z"},
		{"Europe/Berlin", `map:["timestamp=at"]`, `{"at":"2026-05-17T10:05:03"}`, "2026-05-17T08:05:03Z"},
		{"Europe/Berlin", "nginx-json", `{"time":"2026-05-17T10:05:03","remote_addr":"192.0.2.7"}`, "2026-05-17T08:05:03Z"},
		{"Europe/Berlin", "combined", `- - - [17/May/2026:10:05:03 +0000] "GET / HTTP/1.1" 200 1`, "2026-05-17T10:05:03Z"},
		{"UTC", pattern, "2026-05-17 10:05:03", "2026-05-17T10:05:03Z"},

		// The clocks are put back: the first of two equal clocks. They are put forward: the offset before.
		{"Europe/Berlin", pattern, "2026-10-25 01:59:59", "2026-10-24T23:59:59Z"},
		{"Europe/Berlin", pattern, "2026-10-25 02:00:00", "2026-10-25T00:00:00Z"},
		{"Europe/Berlin", pattern, "2026-10-25 02:59:59", "2026-10-25T00:59:59Z"},
		{"Europe/Berlin", pattern, "2026-10-25 03:00:00", "2026-10-25T02:00:00Z"},
		{"Europe/Berlin", pattern, "2026-03-29 01:59:59", "2026-03-29T00:59:59Z"},
		{"Europe/Berlin", pattern, "2026-03-29 02:30:00", "2026-03-29T01:30:00Z"},
		{"Europe/Berlin", pattern, "2026-03-29 03:00:00", "2026-03-29T01:00:00Z"},
		{"America/New_York", pattern, "2026-11-01 01:30:00", "2026-11-01T05:30:00Z"},
		{"America/New_York", pattern, "2026-11-01 02:00:00", "2026-11-01T07:00:00Z"},
		{"America/New_York", pattern, "2026-03-08 02:30:00", "2026-03-08T07:30:00Z"},
		{"Pacific/Kiritimati", pattern, "2026-05-17 10:05:03", "2026-05-16T20:05:03Z"},
		{"Asia/Kolkata", pattern, "2017-01-01 05:29:60", "2017-01-01T00:00:00Z"},
	} {
		t.Run(test.zone+"/"+test.format+"/"+test.line, func(t *testing.T) {
			f, err := ByName("zone:" + test.zone + ":" + test.format)
			if err != nil {
				t.Fatal(err)
			}
			zone, format := CutZone(f.Name())
			if (zone == "") != (test.zone == "UTC" || test.format == "combined") || format != test.format {
				t.Errorf("the name is %s", f.Name())
			}
			if got := timeOf(t, f.Name(), test.line); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestZonesAreChecked(t *testing.T) {
	for name, want := range map[string]string{
		"zone:Europe/Berln:haproxy-http": `did you mean "Europe/Berlin"?`,
		"zone:Europe/Berlin:haproxy":     `unknown format "haproxy"`,
		"zone:Europe/Berlin:orrery":      "a time without one is in UTC",
	} {
		if _, err := ByName(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
