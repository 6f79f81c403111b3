package terminal

import "testing"

func TestBar(t *testing.T) {
	for _, c := range []struct {
		name        string
		part, whole int64
		want        string
	}{
		{"a whole has full length", 7, 7, "████████████████████"},
		{"a half", 1, 2, "██████████"},
		{"eighths of a character", 3, 32, "█▉"},
		{"a small share is visible", 1, 1_000_000, "▏"},
		{"nothing", 0, 9, ""},
		{"nothing of nothing", 0, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Bar(c.part, c.whole); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
