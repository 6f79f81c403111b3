package sqlgen

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
)

// TestRounded evaluates the SQL that rounds a duration, which is the same on every engine, and compares it with
// query.RoundDuration.
func TestRounded(t *testing.T) {
	sql := string(rounded("us"))
	form := regexp.MustCompile(`\Aus - us % CASE((?: WHEN us BETWEEN -\d+ AND \d+ THEN \d+)+) ELSE (\d+) END\z`)
	parts := form.FindStringSubmatch(sql)
	if parts == nil {
		t.Fatalf("not of the form that the test evaluates: %s", sql)
	}
	number := func(text string) int64 {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	branches := regexp.MustCompile(`BETWEEN (-\d+) AND (\d+) THEN (\d+)`).FindAllStringSubmatch(parts[1], -1)
	for _, us := range querytest.BoundaryDurations() {
		unit := number(parts[2])
		for _, b := range branches {
			if number(b[1]) <= us && us <= number(b[2]) {
				unit = number(b[3])
				break
			}
		}
		if got, want := us-us%unit, query.RoundDuration(us); got != want {
			t.Errorf("SQL rounds %d to %d, Go to %d", us, got, want)
		}
	}
}
