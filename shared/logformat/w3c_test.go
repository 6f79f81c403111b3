package logformat

import (
	"encoding/json"
	"testing"
)

// TestW3CTargets: the field cs-uri has a host in front, with a scheme or without.
func TestW3CTargets(t *testing.T) {
	for uri, want := range map[string]struct{ Host, Port, Path, Query string }{
		"www.shop.example/a.php?b=c":         {"www.shop.example", "", "/a.php", "?b=c"},
		"shop.example:8443/":                 {"shop.example", "8443", "/", ""},
		"shop.example":                       {"shop.example", "", "", ""},
		"shop.example?b=http://other.test/":  {"shop.example", "", "", "?b=http://other.test/"},
		"192.0.2.7/a":                        {"192.0.2.7", "", "/a", ""},
		"[2001:db8::1]:80/a":                 {"[2001:db8::1]", "80", "/a", ""},
		"https://www.shop.example/a.php?b=c": {"www.shop.example", "", "/a.php", "?b=c"},
		"/www.shop.example/a.php":            {"", "", "/www.shop.example/a.php", ""},
		"index.html":                         {"", "", "index.html", ""},
		"*":                                  {"", "", "*", ""},
	} {
		f, _ := w3c{name: w3cName}.After([]byte("#Fields: date time cs-uri"))
		text, err := f.Convert(nil, []byte("2026-05-17 10:05:03 "+uri))
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Host, Port, Path, Query string }
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s: %+v, want %+v", uri, got, want)
		}
	}
}

// TestW3CLocalTimes: date-local and time-local are the time if there is no time in UTC.
func TestW3CLocalTimes(t *testing.T) {
	const utc, local = "2026-05-17 10:05:03.120", "2026-05-18 12:00:00"
	for _, test := range []struct{ zone, fields, line, want string }{
		{"", "date-local time-local", utc, "2026-05-17T10:05:03.12Z"},
		{"zone:Europe/Berlin:", "date-local time-local", utc, "2026-05-17T08:05:03.12Z"},
		{"zone:Europe/Berlin:", "date time", utc, "2026-05-17T10:05:03.12Z"},
		{"zone:Europe/Berlin:", "date-local time-local date time", local + " " + utc, "2026-05-17T10:05:03.12Z"},
		{"", "date time-local", utc, ""},
	} {
		f, err := ByName(test.zone + "w3c")
		if err != nil {
			t.Fatal(err)
		}
		f, _ = f.(Directed).After([]byte("#Fields: " + test.fields))
		text, err := f.Convert(nil, []byte(test.line))
		var got struct {
			Timestamp string
			Proxy     []struct{ Name string }
		}
		if err == nil {
			err = json.Unmarshal(text, &got)
		}
		if got.Timestamp != test.want || (err == nil) == (test.want == "") {
			t.Errorf("%s%s: %s, %v, want %s", test.zone, test.fields, text, err, test.want)
		}
		if test.fields == "date-local time-local date time" && (len(got.Proxy) != 2 || got.Proxy[0].Name != "date-local") {
			t.Errorf("the local time is lost: %s", text)
		}
	}
}

// TestRequestsWithoutProtocol: spaces after the target are no part of it.
func TestRequestsWithoutProtocol(t *testing.T) {
	for line, want := range map[string]string{
		"GET / ": "/", "GET /": "/", "GET /a b ": "/a b", "GET /a  ": "/a", "GET  ": "", "GET / HTTP/1.1": "/",
	} {
		r, ok := parseRequest([]byte(line))
		if string(r.path) != want || ok == (want == "") {
			t.Errorf("%q: path %q, %t, want %q", line, r.path, ok, want)
		}
	}
}
