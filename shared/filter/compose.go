package filter

import (
	"strings"
	"time"
)

// During returns the condition for a period, which includes both ends, in the query-string form.
func During(fromMs, toMs int64) string {
	return "timestamp between " + TimeText(fromMs) + " and " + TimeText(toMs)
}

// TimeText returns a time in milliseconds since the epoch as filters have it.
func TimeText(ms int64) string {
	t := time.UnixMilli(ms).UTC()
	if t.Nanosecond() != 0 {
		return t.Format("2006-01-02 15:04:05.000")
	}
	return t.Format(time.DateTime)
}

// Joined returns conditions as one filter. It leaves out empty ones.
func Joined(conditions ...string) string {
	var list []string
	for _, c := range conditions {
		if c != "" {
			list = append(list, c)
		}
	}
	return strings.Join(list, ", ")
}
