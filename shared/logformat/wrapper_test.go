package logformat

import (
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"
)

// TestWrappers: the error for lines of a known format in a known wrapper names both, and a command that unwraps them.
func TestWrappers(t *testing.T) {
	const (
		access  = `192.0.2.7 - - [17/May/2026:10:05:03 +0000] "GET /a HTTP/1.1" 200 5 "-" "a \"b\""`
		unknown = `{"time":1779012303,"client":"192.0.2.7","code":200}`
		nginx   = `{"time_iso8601":"2026-05-17T10:05:03+00:00","remote_addr":"192.0.2.7","request_uri":"/a","status":200}`
	)
	quoted, err := json.Marshal(access + "\n")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ log, wrapper, format, inside string }{
		"CRI": {"2026-05-17T10:05:02.1Z stderr F started\n2026-05-17T10:05:03.123456789Z stdout F " + access + "\n",
			"the lines of a container runtime (CRI)", "combined", "started\n" + access + "\n"},
		"CRI with JSON": {"2026-05-17T10:05:03.123456789+02:00 stdout F " + nginx + "\n",
			"the lines of a container runtime (CRI)", "nginx-json", nginx + "\n"},
		"Docker": {`{"log":` + string(quoted) + `,"stream":"stdout","time":"2026-05-17T10:05:03.1Z"}` + "\n",
			`the lines of Docker, {"log":…}`, "combined", ""},
		"syslog":               {"May 17 10:05:03 web nginx: " + access + "\n", "the lines of syslog", "combined", access + "\n"},
		"syslog of one digit":  {"<190>May  7 10:05:03 web nginx[12]: " + access + "\n", "the lines of syslog", "combined", access + "\n"},
		"syslog with ISO 8601": {"2026-05-17T10:05:03.1+02:00 web nginx: " + access + "\n", "the lines of syslog", "combined", access + "\n"},
		"RFC 5424": {"<190>1 2026-05-17T10:05:03.1Z web nginx 12 - - " + access + "\n",
			"the lines of syslog (RFC 5424)", "combined", access + "\n"},
		"RFC 5424 with data": {`<190>1 2026-05-17T10:05:03.1Z web nginx 12 - [a b="c"] ` + access + "\n",
			"the lines of syslog (RFC 5424)", "combined", access + "\n"},
		"Docker with JSON of no known format": {`{"log":"{\"time\":1779012303,\"client\":\"192.0.2.7\",\"code\":200}\n"}` + "\n",
			`the lines of Docker, {"log":…}`, "", ""},
		"syslog with JSON of no known format": {"May 17 10:05:03 web nginx: " + unknown + "\n", "the lines of syslog", "",
			unknown + "\n"},
		"CRI with other lines":    {"2026-05-17T10:05:03.1Z stdout F started\n", "", "", ""},
		"Docker with other lines": {`{"log":"started\n","stream":"stdout","time":"2026-05-17T10:05:03.1Z"}` + "\n", "", "", ""},
		"neither":                 {"started\n", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Detect([]byte(test.log))
			var e *UnrecognizedError
			if !errors.As(err, &e) {
				t.Fatal(err)
			}
			if test.wrapper == "" {
				if e.Wrapped != nil {
					t.Error(err)
				}
				return
			}
			inside := "lines of the format " + test.format
			if test.format == "" {
				inside = "JSON objects"
				if mappings := strings.Join(e.Wrapped.Map, " "); mappings != "timestamp=time ip=client status=code" ||
					e.Map != nil || len(e.Members) != 3 {
					t.Errorf("the mappings are %q; %+v", mappings, e)
				}
			}
			if want := "these are " + test.wrapper + ", and inside them are " + inside + ":"; !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
			command, isSed := strings.CutPrefix(e.Wrapped.Remedy, "sed -E '")
			if !isSed {
				return
			}
			if _, err := exec.LookPath("sed"); err != nil {
				t.Skip(err)
			}
			sed := exec.Command("sed", "-E", strings.TrimSuffix(command, "' FILE"))
			sed.Stdin = strings.NewReader(test.log)
			if out, err := sed.Output(); err != nil || string(out) != test.inside {
				t.Errorf("%s prints %s, %v", e.Wrapped.Remedy, out, err)
			}
		})
	}
}

// TestJSONOfSeveralLines: a log in JSON that does not have one object a line is named, with a command that converts it,
// even if some lines look like records.
func TestJSONOfSeveralLines(t *testing.T) {
	const object = `{"timestamp":"2026-05-17T10:05:03Z","ip":"192.0.2.7","method":"GET","path":"/a"}`
	const list = "the log is a list in JSON: import one object a line, jq -c '.[]' FILE | orrery import --as FILE -"
	for log, want := range map[string]string{
		"[" + object + ",\n" + object + ",\n" + object + "]\n": list,
		"[\n  " + object + ",\n  " + object + "\n]\n":          list,
		"{\n  \"timestamp\": 1779012303\n}\n": "the log has JSON objects of several lines: import one object a line, " +
			"jq -c . FILE | orrery import --as FILE -",
	} {
		if _, err := Detect([]byte(log)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", log, err, want)
		}
	}
}
