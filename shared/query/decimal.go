package query

import (
	"cmp"
	"math"
	"strconv"
	"strings"
)

// decimal is an exact decimal number: ±digits × 10^exponent. digits has no zeros at either end; it is empty for 0.
type decimal struct {
	negative bool
	digits   string
	exponent int
}

// parseDecimal parses a JSON number, which may have leading zeros here. It accepts at most 40 digits on either side of
// the decimal point and three in the exponent.
func parseDecimal(text string) (decimal, bool) {
	var d decimal
	rest, negative := strings.CutPrefix(text, "-")
	whole, rest := cutDigits(rest)
	if whole == "" || len(whole) > 40 {
		return d, false
	}
	fraction := ""
	if after, ok := strings.CutPrefix(rest, "."); ok {
		if fraction, rest = cutDigits(after); fraction == "" || len(fraction) > 40 {
			return d, false
		}
	}
	if rest != "" {
		exponent, ok := parseExponent(rest)
		if !ok {
			return d, false
		}
		d.exponent = exponent
	}
	digits := strings.TrimLeft(whole+fraction, "0")
	d.exponent -= len(fraction)
	d.digits = strings.TrimRight(digits, "0")
	d.exponent += len(digits) - len(d.digits)
	if d.digits == "" {
		return decimal{}, true
	}
	d.negative = negative
	return d, true
}

func cutDigits(s string) (digits, rest string) {
	i := 0
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		i++
	}
	return s[:i], s[i:]
}

func parseExponent(s string) (int, bool) {
	if s[0] != 'e' && s[0] != 'E' {
		return 0, false
	}
	s = s[1:]
	sign := 1
	if strings.HasPrefix(s, "-") {
		sign = -1
	}
	if sign < 0 || strings.HasPrefix(s, "+") {
		s = s[1:]
	}
	digits, rest := cutDigits(s)
	if digits == "" || len(digits) > 3 || rest != "" {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return sign * n, err == nil
}

// String returns the shortest form of the number that is a JSON number and that catalog.NumericText accepts.
func (d decimal) String() string {
	if d.digits == "" {
		return "0"
	}
	sign := ""
	if d.negative {
		sign = "-"
	}
	point := len(d.digits) + d.exponent // digits before the decimal point
	switch {
	case d.exponent >= 0 && point <= 21:
		return sign + d.digits + strings.Repeat("0", d.exponent)
	case d.exponent < 0 && point > 0:
		return sign + d.digits[:point] + "." + d.digits[point:]
	case d.exponent < 0 && point > -6:
		return sign + "0." + strings.Repeat("0", -point) + d.digits
	}
	mantissa := d.digits[:1]
	if len(d.digits) > 1 {
		mantissa += "." + d.digits[1:]
	}
	return sign + mantissa + "e" + strconv.Itoa(point-1)
}

// scaled returns d × 10^power.
func (d decimal) scaled(power int) decimal {
	if d.digits != "" {
		d.exponent += power
	}
	return d
}

// integral reports whether the number has no fraction.
func (d decimal) integral() bool { return d.exponent >= 0 }

// floor returns the greatest integer not above the number; ok is false outside int64.
func (d decimal) floor() (n int64, ok bool) {
	n, ok = d.truncate()
	if d.negative && !d.integral() {
		return n - 1, ok && n > math.MinInt64
	}
	return n, ok
}

// ceil returns the smallest integer not below the number; ok is false outside int64.
func (d decimal) ceil() (n int64, ok bool) {
	n, ok = d.truncate()
	if !d.negative && !d.integral() {
		return n + 1, ok && n < math.MaxInt64
	}
	return n, ok
}

// round returns the nearest integer, rounding halves away from zero; ok is false outside int64.
func (d decimal) round() (n int64, ok bool) {
	first := len(d.digits) + d.exponent // index of the first digit after the point
	switch {
	case d.integral() || first < 0 || d.digits[first] < '5':
		return d.truncate()
	case d.negative:
		return d.floor()
	}
	return d.ceil()
}

// truncate returns the number without its fraction; the result is false outside int64.
func (d decimal) truncate() (int64, bool) {
	point := len(d.digits) + d.exponent
	if point <= 0 {
		return 0, true
	}
	if point > 19 {
		return 0, false
	}
	text := d.digits[:min(point, len(d.digits))] + strings.Repeat("0", max(d.exponent, 0))
	if d.negative {
		text = "-" + text
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

// float returns the nearest float64; the result is false when the number is too large for one.
func (d decimal) float() (float64, bool) {
	f, err := strconv.ParseFloat(d.String(), 64)
	return f, err == nil
}

// rounded returns the nearest integer as a decimal, rounding halves away from zero.
func (d decimal) rounded() decimal {
	if d.integral() {
		return d
	}
	n, ok := d.round()
	if !ok {
		return d // the caller finds it out of range
	}
	rounded, _ := parseDecimal(strconv.FormatInt(n, 10))
	return rounded
}

// compare returns -1, 0 or 1 as d is less than, equal to or greater than e.
func (d decimal) compare(e decimal) int {
	switch {
	case d.sign() != e.sign():
		return cmp.Compare(d.sign(), e.sign())
	case d.negative:
		return -d.compareSize(e)
	}
	return d.compareSize(e)
}

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	}
	return 1
}

// compareSize compares the absolute values of d and e.
func (d decimal) compareSize(e decimal) int {
	if c := cmp.Compare(len(d.digits)+d.exponent, len(e.digits)+e.exponent); c != 0 {
		return c
	}
	return cmp.Compare(d.digits, e.digits)
}
