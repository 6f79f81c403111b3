package record

import (
	"math"
	"time"
)

// instant is a timestamp in nanoseconds, with the information that is needed to print all of its digits.
type instant struct {
	ms     int64  // milliseconds since the Unix epoch
	nanos  int64  // nanoseconds within the millisecond
	digits int    // number of digits of the fraction, at most 9
	finer  []byte // the digits after the ninth
}

// parseTime parses the timestamps of logs: year, month, day, then 'T', 't', '_' or a space, then hour, minute and an
// optional second with an optional fraction after '.' or ',', then a zone: Z, ±hh, ±hhmm or ±hh:mm, optionally after a
// space. Without a zone the time is in UTC. A leap second is the next second. A number alone is Unix time, see
// parseUnix.
func parseTime(b []byte) (t instant, ok bool) {
	if isNumber(b) {
		return parseUnix(b)
	}
	p := timeParser{b: b}
	year := p.number(4)
	p.byte('-')
	month := p.number(2)
	p.byte('-')
	day := p.number(2)
	p.oneOf("Tt _")
	hour := p.number(2)
	p.byte(':')
	minute := p.number(2)
	second := 0
	if p.has(':') {
		second = p.number(2)
		if p.has('.') || p.has(',') {
			p.fraction(&t)
		}
	}
	offset := p.zone()
	if p.bad || len(p.b) > 0 || month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 60 {
		return instant{}, false
	}
	when := time.Date(year, time.Month(month), day, hour, minute-offset, second, 0, time.UTC)
	isLeap := second == 60 && when.Unix()%86_400 == 0
	if second == 60 && !isLeap || day > daysIn(year, month) || when.Year() < 0 || when.Year() > 9999 {
		return instant{}, false
	}
	t.ms += when.Unix() * 1000
	return t, true
}

func daysIn(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// parseUnix parses Unix time. A number of seconds may have a fraction. A whole number of at least twelve digits is in
// milliseconds, of at least fifteen digits in microseconds, and of at least eighteen digits in nanoseconds, because
// times since 1973 have that many digits in these units. In every unit the time must be in the range of nanoseconds in
// 64 bits, the years 1677 to 2262.
func parseUnix(number []byte) (t instant, ok bool) {
	nanos, exact, ok := parseScaled(number, 9)
	digits := fractionDigits(number)
	if whole, isWhole, fits := parseScaled(number, 0); fits && isWhole {
		within := func(limit int64) bool { return -limit < whole && whole < limit }
		unit := int64(1) // in nanoseconds
		switch {
		case within(1e11):
			unit = 1e9
		case within(1e14):
			unit, digits = 1e6, 3
		case within(1e17):
			unit, digits = 1e3, 6
		default:
			digits = 9
		}
		nanos, exact, ok = whole*unit, true, math.MinInt64/unit <= whole && whole <= math.MaxInt64/unit
	}
	if !ok || !exact || digits > 9 {
		return instant{}, false
	}
	t.ms, t.nanos, t.digits = nanos/1e6, nanos%1e6, digits
	if t.nanos < 0 {
		t.ms, t.nanos = t.ms-1, t.nanos+1e6
	}
	return t, true
}

// fractionDigits returns the number of digits with which the fraction of a number is printed.
func fractionDigits(number []byte) int {
	point := -1
	for i, c := range number {
		switch {
		case c == '.':
			point = i
		case c|0x20 == 'e':
			return 9 // enough for every time that parseUnix accepts
		}
	}
	if point < 0 {
		return 0
	}
	return len(number) - point - 1
}

// timeParser parses a timestamp from the front. b is the rest of the text.
type timeParser struct {
	b   []byte
	bad bool
}

func (p *timeParser) number(digits int) int {
	if len(p.b) < digits {
		p.bad = true
		return 0
	}
	n := 0
	for _, c := range p.b[:digits] {
		if c < '0' || c > '9' {
			p.bad = true
			return 0
		}
		n = n*10 + int(c-'0')
	}
	p.b = p.b[digits:]
	return n
}

func (p *timeParser) has(c byte) bool {
	if len(p.b) == 0 || p.b[0] != c {
		return false
	}
	p.b = p.b[1:]
	return true
}

func (p *timeParser) byte(c byte) {
	if !p.has(c) {
		p.bad = true
	}
}

func (p *timeParser) oneOf(set string) {
	for i := range len(set) {
		if p.has(set[i]) {
			return
		}
	}
	p.bad = true
}

// fraction parses the digits of a fraction of a second.
func (p *timeParser) fraction(t *instant) {
	n := 0
	for n < len(p.b) && '0' <= p.b[n] && p.b[n] <= '9' {
		n++
	}
	if n == 0 {
		p.bad = true
		return
	}
	var nanos int64
	for i := range 9 {
		nanos *= 10
		if i < n {
			nanos += int64(p.b[i] - '0')
		}
	}
	t.ms, t.nanos, t.digits = nanos/1e6, nanos%1e6, min(n, 9)
	if n > 9 {
		t.finer = p.b[9:n]
	}
	p.b = p.b[n:]
}

// zone parses the zone and returns its offset from UTC in minutes.
func (p *timeParser) zone() int {
	p.has(' ')
	sign := 1
	switch {
	case len(p.b) == 0 || p.has('Z') || p.has('z'):
		return 0
	case p.has('-'):
		sign = -1
	default:
		p.byte('+')
	}
	hours := p.number(2)
	minutes := 0
	if p.has(':') || len(p.b) > 0 {
		minutes = p.number(2)
	}
	if hours > 23 || minutes > 59 {
		p.bad = true
	}
	return sign * (hours*60 + minutes)
}

// appendTime prints a time as RFC 3339 in UTC with the given number of digits of the fraction, at most 9.
func appendTime(dst []byte, ms, nanos int64, digits int) []byte {
	t := time.UnixMilli(ms).UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	dst = append(dst, byte('0'+year/1000%10), byte('0'+year/100%10), byte('0'+year/10%10), byte('0'+year%10), '-')
	dst = append2(dst, int(month), '-')
	dst = append2(dst, day, 'T')
	dst = append2(dst, hour, ':')
	dst = append2(dst, minute, ':')
	if digits == 0 {
		return append2(dst, second, 'Z')
	}
	dst = append2(dst, second, '.')
	fraction := int64(t.Nanosecond()) + nanos
	for unit := int64(1e8); digits > 0; digits-- {
		dst = append(dst, byte('0'+fraction/unit%10))
		unit /= 10
	}
	return append(dst, 'Z')
}

// append2 prints n with two digits, followed by the byte after.
func append2(dst []byte, n int, after byte) []byte {
	return append(dst, byte('0'+n/10), byte('0'+n%10), after)
}
