package answers

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestQueryReportsLag(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	const line = "orrery: the data is complete through 2026-01-02T11:30:00Z; later logs may be missing\n"
	for name, test := range map[string]struct{ to, through, want string }{
		"the period ends later":                       {"2026-01-02T11:45:00Z", `"2026-01-02T11:30:00Z"`, line},
		"the period ends in the future":               {"2026-01-03T00:00:00Z", `"2026-01-02T11:30:00Z"`, line},
		"the period ends earlier":                     {"2026-01-02T11:00:00Z", `"2026-01-02T11:30:00Z"`, ""},
		"only logs of the last minute may be missing": {"2026-01-03T00:00:00Z", `"2026-01-02T11:59:30Z"`, ""},
		"it is not known":                             {"2026-01-02T11:45:00Z", `null`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var a Answer
			text := `{"meta":{"period":{"from":"2026-01-01T00:00:00Z","to":"` + test.to + `"},"complete_through":` + test.through + `}}`
			if err := json.Unmarshal([]byte(text), &a); err != nil {
				t.Fatal(err)
			}
			var stderr strings.Builder
			late, err := a.reportLag(&stderr, now)
			if err != nil || late != (test.want != "") || stderr.String() != test.want {
				t.Errorf("%t, %q, %v; want %q", late, stderr.String(), err, test.want)
			}
		})
	}
	t.Run("a wrong time is an error", func(t *testing.T) {
		var a Answer
		wrong := "yesterday"
		a.Meta.Complete = &wrong
		if _, err := a.reportLag(&strings.Builder{}, now); err == nil {
			t.Error("no error")
		}
	})
}
