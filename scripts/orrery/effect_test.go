package main

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// effectOf returns the answer about rules with these names. Only the first one explains something.
func effectOf(rules ...string) string {
	list := []string{`{"by":"all","sentence":"In the hour from 2026-01-01 10:30, 123,456 of 999,999 requests were blocked, and 12 of ` +
		`999,999 in the hour before: acl acl3 blocked 123,444 more than expected.","difference":123444,"from_rules":123444,` +
		`"before":{"num_of_blocked_requests":12},"after":{"num_of_blocked_requests":123456,"num_of_blocked_human_requests":9}}`}
	for i, name := range rules {
		explained := "0"
		if i == 0 {
			explained = "123444"
		}
		list = append(list, `{"by":"rule","value":`+name+`,"difference":-123456,"from_requests":-999999,"from_rules":`+explained+
			`,"rest":-999999,"before":{"num_of_blocked_requests":999999,"num_of_blocked_human_requests":999999},`+
			`"after":{"num_of_blocked_requests":999999,"num_of_blocked_human_requests":0}}`)
	}
	return "[" + strings.Join(append(list, `{"by":"reason","value":"Block"}`), ",") + "]"
}

// TestTableOfAnEffect: the table has at most 100 columns, and few rules that explain nothing.
func TestTableOfAnEffect(t *testing.T) {
	url := answeringServer(t, effectOf(`"rate limit API calls per session and address"`, "null", `"a"`, `"b"`, `"c"`, `"d"`, `"e"`, `"f"`),
		`,"effect":{"at":"2026-01-01T10:30:00Z","length_seconds":240,"shortened":true}`)
	stdout, stderr, code := inProcess(t, "effect", "--url", url, "--format", "table", "2026-01-01 10:30")
	if want := "orrery: there is no later data, so each period has only 4 minutes\n"; stderr != want || code != 0 {
		t.Errorf("%d %s", code, stderr)
	}
	lines := strings.Split(stdout, "\n")
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > 100 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	want := []string{
		"In the hour from 2026-01-01 10:30, 123,456 of 999,999 requests were blocked, and 12 of 999,999 in",
		"the hour before: acl acl3 blocked 123,444 more than expected.",
		"",
		"rule                         before   after    difference  requests  rules     rest      humans",
		"all                          12       123,456  +123,444    0         +123,444  0         – → 9",
		"rate limit API calls per s…  999,999  999,999  -123,456    -999,999  +123,444  -999,999  999,999 → 0",
		"–                            999,999  999,999  -123,456    -999,999  0         -999,999  999,999 → 0",
	}
	if diff := cmp.Diff(want, lines[:min(len(want), len(lines))]); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(stdout, "\nfurther rules that explain nothing: 2\n") || strings.Contains(stdout, "Block") {
		t.Error(stdout)
	}
}

// TestEffectOfAFolder: the command passes its flags and a filter to the API, and every format has the same comparison.
func TestEffectOfAFolder(t *testing.T) {
	data := t.TempDir()
	if _, stderr, code := inProcess(t, "generate", "--data", data, "--records", "3000", "--from", "2026-01-05", "--to", "2026-01-06"); code != 0 {
		t.Fatal(stderr)
	}
	args := []string{"effect", "--data", data, "--length", "2h", "--against", "1d", "--tz", "Europe/Berlin", "2026-01-05 10:00", "method=GET"}
	stdout, stderr, code := inProcess(t, append(args, "--format", "json")...)
	var got struct {
		Data struct {
			Results []struct{ Sentence string }
		}
		Meta struct {
			Filter string
			Effect struct {
				Before struct{ Period struct{ From string } }
			}
		}
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != 0 {
		t.Fatalf("%d %v %s", code, err, stderr)
	}
	if m := got.Meta; m.Effect.Before.Period.From != "2026-01-04T10:00:00Z" ||
		m.Filter != `timestamp between 2026-01-05 10:00:00 and 2026-01-05 11:59:59.999, method="GET"` {
		t.Errorf("%+v", m)
	}
	sentence := got.Data.Results[0].Sentence
	for _, format := range []string{"table", "csv"} {
		stdout, stderr, code := inProcess(t, append(args, "--format", format)...)
		if code != 0 || !strings.Contains(strings.Join(strings.Fields(stdout), " "), sentence) {
			t.Errorf("%s: %d %s%s lacks %s", format, code, stdout, stderr, sentence)
		}
	}
	if stdout, stderr, code := inProcess(t, append(args, "--dry-run", "--format", "table")...); code != 0 || !strings.Contains(stdout, "bytes") {
		t.Errorf("%d %s%s", code, stdout, stderr)
	}
	for _, wrong := range [][]string{{}, {"2026-01-05 10:00", "hots=a"}, {"noon"}, {"2026-01-05", "--dry-run", "--format", "csv"}} {
		if _, stderr, code := inProcess(t, append([]string{"effect", "--data", data}, wrong...)...); code == 0 || stderr == "" {
			t.Errorf("%q: %d %s", wrong, code, stderr)
		}
	}
}

// TestMarksAreReported: tables come with the changes of settings, on standard error.
func TestMarksAreReported(t *testing.T) {
	for marks, want := range map[string]string{
		"": "", `,"marks":[]`: "the settings do not change\n",
		`,"marks":[{"at":"2026-01-01T10:30:00Z","kind":"revision","before":"1f0c","after":"9a2e"}]`: "2026-01-01T10:30:00Z: the settings " +
			"change from revision 1f0c to 9a2e\n",
		`,"marks":[{"at":"2026-01-01T10:30:00.5Z","kind":"planet","config":"prod","version":3,"by":"ann"}]`: "2026-01-01T10:30:00.5Z: " +
			"the planet of prod has version 3, written by ann\n",
	} {
		url := answeringServer(t, `[{"time_period":1767261600,"num_of_requests":1,"array_status_codes":[],"array_origin_status_codes":[]}]`, marks)
		for format, want := range map[string]string{"table": want, "csv": want, "json": ""} {
			_, stderr, code := inProcess(t, "query", "timeline", "--url", url, "--format", format, "--marks", "x")
			if stderr != want || code != 0 {
				t.Errorf("%s as %s: %d %q, want %q", marks, format, code, stderr, want)
			}
		}
	}
}

// TestMarksOfAFolder: the flag reaches the API, for which a data folder has the marks of generated records.
func TestMarksOfAFolder(t *testing.T) {
	data := t.TempDir()
	if _, stderr, code := inProcess(t, "generate", "--data", data, "--records", "3000", "--from", "2026-01-05", "--to", "2026-01-06"); code != 0 {
		t.Fatal(stderr)
	}
	for _, period := range []string{"2026-01-05 and 2026-01-06", "2026-01-01 and 2026-01-20"} {
		stdout, stderr, code := inProcess(t, "query", "histogram", "--data", data, "--format", "json", "--marks", "timestamp between "+period)
		var got struct {
			Meta struct{ Marks []struct{ At string } }
		}
		if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != 0 {
			t.Fatalf("%d %v %s", code, err, stderr)
		}
		// The generator changes the revision every twelve hours.
		if m := got.Meta.Marks; len(m) != 1 || !strings.HasPrefix(m[0].At, "2026-01-05T12:0") {
			t.Errorf("%s: %v", period, m)
		}
	}
}
