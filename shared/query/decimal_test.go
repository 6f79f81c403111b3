package query

import (
	"fmt"
	"strings"
	"testing"
)

func TestDecimal(t *testing.T) {
	const (
		maxInt = "9223372036854775807"
		minInt = "-9223372036854775808"
	)
	for _, c := range []struct{ text, prints, floor, ceil, round string }{
		{"0", "0", "0", "0", "0"},
		{"-0.000", "0", "0", "0", "0"},
		{"007.50", "7.5", "7", "8", "8"},
		{"-7.5", "-7.5", "-8", "-7", "-8"},
		{"7.4", "7.4", "7", "8", "7"},
		{"0.04", "0.04", "0", "1", "0"},
		{"-0.5", "-0.5", "-1", "0", "-1"},
		{"1e3", "1000", "1000", "1000", "1000"},
		{"12.5E-1", "1.25", "1", "2", "1"},
		{"1e-7", "1e-7", "0", "1", "0"},
		{"1e-6", "0.000001", "0", "1", "0"},
		{"-1.5e22", "-1.5e22", "range", "range", "range"},
		{"123456789012345678901", "123456789012345678901", "range", "range", "range"},
		{maxInt, maxInt, maxInt, maxInt, maxInt},
		{minInt, minInt, minInt, minInt, minInt},
		{maxInt + ".5", maxInt + ".5", maxInt, "range", "range"},
		{minInt + ".5", minInt + ".5", "range", minInt, "range"},
	} {
		d, ok := parseDecimal(c.text)
		if !ok {
			t.Errorf("%s is refused", c.text)
			continue
		}
		show := func(n int64, ok bool) string {
			if !ok {
				return "range"
			}
			return fmt.Sprint(n)
		}
		if got := d.String(); got != c.prints {
			t.Errorf("%s prints as %s, want %s", c.text, got, c.prints)
		}
		got := [3]string{show(d.floor()), show(d.ceil()), show(d.round())}
		if want := [3]string{c.floor, c.ceil, c.round}; got != want {
			t.Errorf("%s: floor, ceil and round are %s, want %s", c.text, got, want)
		}
	}
	for _, text := range []string{
		"", "-", "+1", ".5", "5.", "1e", "1e+", "1e1234", "1x", " 1", "NaN", "Inf", "0x10", "1_000",
		strings.Repeat("1", 41), "0." + strings.Repeat("1", 41),
	} {
		if d, ok := parseDecimal(text); ok {
			t.Errorf("%q is parsed as %s", text, d)
		}
	}
}

func TestDecimalCompare(t *testing.T) {
	ascending := []string{"-1e20", "-10.5", "-10", "-0.1", "0", "1e-9", "0.1", "0.12", "9", "10", "10.000001", "1e3"}
	for i, a := range ascending {
		for j, b := range ascending {
			x, _ := parseDecimal(a)
			y, _ := parseDecimal(b)
			want := 0
			if i != j {
				want = map[bool]int{true: -1, false: 1}[i < j]
			}
			if got := x.compare(y); got != want {
				t.Errorf("compare(%s, %s) = %d", a, b, got)
			}
		}
	}
}
