package query

import (
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
)

// periodIndex returns the index of the condition that is the period, or -1: the first timestamp between that is not
// negated.
func periodIndex(conditions []filter.Condition) int {
	return slices.IndexFunc(conditions, func(c filter.Condition) bool {
		return c.Field.Text == "timestamp" && c.Op == filter.Between && !c.Negated
	})
}

// bindPeriod binds the period, or records its mistakes or that the filter has none. A filter with a reference to a
// record needs none, see followLink.
func (b *binder) bindPeriod() {
	conditions := b.filter.Conditions
	b.periodAt = periodIndex(conditions)
	if b.periodAt < 0 {
		b.periodFollows = !b.periodOptional && slices.ContainsFunc(conditions, isLink)
		if !b.periodFollows && !b.periodOptional && !b.hasUnreadText() && !b.reportsPeriod(conditions) {
			b.fail(periodMissing(b.filter.Text))
		}
		return
	}
	c := &conditions[b.periodAt]
	b.pointer = c.Pointer
	if b.filter.Syntax == filter.JSON && b.periodAt > 0 {
		b.periodMisplaced = true
		b.fail(periodNotFirst(c))
	}
	field, _ := catalog.Lookup("timestamp")
	if _, _, ok := b.bindKey(field, c); !ok || !b.checkCount(filter.Between, c) {
		return
	}
	period, refusals := readPeriod(readValues(filter.Between, c.Values))
	for _, refusal := range refusals {
		if refusal != nil {
			b.fail(*refusal)
		}
	}
	b.period = period
	b.canonical[0] = canonicalPeriod(period)
	b.seen[identity(&b.canonical[0])] = true
}

// hasUnreadText reports whether the parser did not read the whole text; the period may be in the rest. The parser stops
// at errors with these codes.
func (b *binder) hasUnreadText() bool {
	return slices.ContainsFunc(b.filter.Problems, func(e filter.Error) bool {
		return e.Code == "too_long" || e.Code == "too_deep" || e.Code == codeNotUTF8
	})
}

// reportsPeriod reports whether some condition was probably meant as the period, or as a reference from which the
// period follows, and a mistake in it is already reported.
func (b *binder) reportsPeriod(conditions []filter.Condition) bool {
	for _, c := range slices.Concat(conditions, b.filter.Incomplete) {
		if c.Negated {
			continue
		}
		if c.Field.Text == "timestamp" || c.Field.Text == catalog.RecordRef {
			return true
		}
		if _, known := catalog.Lookup(c.Field.Text); known {
			continue
		}
		near := nearestField(c.Field.Text)
		if near == catalog.RecordRef || near == "timestamp" && c.Op == filter.Between {
			return true
		}
	}
	return len(b.problems) > 0 && strings.Contains(b.filter.Text, "timestamp")
}

// readPeriod parses two times, in either order. For every value it returns its error, nil if it is a time.
func readPeriod(values []operand) (Period, []*filter.Error) {
	refusals := make([]*filter.Error, len(values))
	var ms [2]int64
	for i, v := range values {
		t, problem := parseTime(v.Text)
		if problem != "" {
			refusals[i] = invalidTime(v, problem)
			continue
		}
		ms[i] = t.UnixMilli()
	}
	return Period{FromMs: min(ms[0], ms[1]), ToMs: max(ms[0], ms[1])}, refusals
}

// parseTime parses
//
//	time = date [ ( " " | "T" ) clock ] [ zone ] .
//	date = yyyy "-" mm "-" dd | yyyymmdd .
//	clock = hh [ [":"] mm [ [":"] ss ] ] [ ( "." | "," ) digits ] .
//	zone = [" "] ( "Z" | ( "+" | "-" ) hh [ [":"] mm [ [":"] ss ] ] ) | " " hh ":" mm [ ":" ss ] .
//
// A fraction belongs to the last unit written. In the last form of zone, the space is a plus sign that was not
// URL-encoded; this form is allowed only after a clock. Directly after a date, -hh is not a zone, because 2026-01-01-02
// is ambiguous. Without a zone the time is UTC. A leap second is the next second. Digits below a millisecond are cut off. The second result describes the
// mistake, or is empty.
func parseTime(text string) (time.Time, string) {
	s := timeScanner{rest: strings.TrimSpace(text)}
	year, month, day := s.date()
	if s.problem != "" {
		return time.Time{}, s.problem
	}
	var hour, minute, second, millis, offset int
	switch {
	case s.rest == "":
	case s.zoneFollows():
		offset = s.zone()
	case s.cut(" "), s.cut("T"), s.cut("t"):
		hour, minute, second, millis = s.clock()
		offset = s.zone()
	case strings.HasPrefix(s.rest, "-"):
		return time.Time{}, timeUnreadable
	default:
		return time.Time{}, timeIncomplete
	}
	switch {
	case s.problem != "":
		return time.Time{}, s.problem
	case s.rest != "":
		return time.Time{}, timeUnreadable
	case month < 1 || month > 12, day < 1 || day > daysIn(year, month):
		return time.Time{}, timeNoSuchDay
	case hour == 24 && minute+second+millis > 0, hour > 24, minute > 59, second > 60:
		return time.Time{}, timeNoSuchClock
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second-offset, 0, time.UTC)
	if second == 60 && t.Unix()%86_400 != 0 {
		return time.Time{}, timeNoSuchClock
	}
	t = t.Add(time.Duration(millis) * time.Millisecond)
	if t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}, timeNoSuchYear
	}
	return t, ""
}

func daysIn(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// timeScanner reads a time from left to right. After a problem its results have no meaning.
type timeScanner struct {
	rest    string
	problem string
}

func (s *timeScanner) cut(prefix string) bool {
	rest, ok := strings.CutPrefix(s.rest, prefix)
	if ok {
		s.rest = rest
	}
	return ok
}

// number reads exactly n digits.
func (s *timeScanner) number(n int) int {
	if !s.digits(n) {
		if s.problem == "" {
			s.problem = timeUnreadable
		}
		return 0
	}
	value := 0
	for _, c := range s.rest[:n] {
		value = value*10 + int(c-'0')
	}
	s.rest = s.rest[n:]
	return value
}

// digits reports whether at least n digits come next.
func (s *timeScanner) digits(n int) bool {
	digits, _ := cutDigits(s.rest)
	return len(digits) >= n
}

func (s *timeScanner) date() (year, month, day int) {
	digits, _ := cutDigits(s.rest)
	switch {
	case len(digits) == 4 && len(s.rest) > 4 && s.rest[4] == '-':
		year = s.number(4)
		s.cut("-")
		if next, _ := cutDigits(s.rest); len(next) != 2 || !strings.HasPrefix(s.rest[2:], "-") {
			s.problem = timeIncomplete // a week date, an ordinal date, or only a month
			return
		}
		month = s.number(2)
		s.cut("-")
		day = s.number(2)
	case len(digits) == 8:
		year, month, day = s.number(4), s.number(2), s.number(2)
	default:
		s.problem = timeIncomplete
	}
	return year, month, day
}

func (s *timeScanner) clock() (hour, minute, second, millis int) {
	hour = s.number(2)
	if s.point() {
		return hour, 0, 0, s.fraction(3_600_000)
	}
	colon := s.cut(":")
	if !colon && !s.digits(2) {
		return
	}
	minute = s.number(2)
	if s.point() {
		return hour, minute, 0, s.fraction(60_000)
	}
	if colon && !s.cut(":") || !colon && !s.digits(2) {
		return
	}
	second = s.number(2)
	if s.point() {
		millis = s.fraction(1000)
	}
	return hour, minute, second, millis
}

func (s *timeScanner) point() bool { return s.cut(".") || s.cut(",") }

// fraction reads the digits after a decimal point as a fraction of a unit, given in milliseconds, and returns
// milliseconds. Only the first eighteen digits count.
func (s *timeScanner) fraction(unit uint64) int {
	digits, rest := cutDigits(s.rest)
	if digits == "" {
		s.problem = timeUnreadable
	}
	s.rest = rest
	const scale = 1_000_000_000_000_000_000
	var part uint64
	for i := range 18 {
		part *= 10
		if i < len(digits) {
			part += uint64(digits[i] - '0')
		}
	}
	high, low := bits.Mul64(part, unit)
	millis, _ := bits.Div64(high, low, scale)
	return int(millis)
}

// zoneFollows reports whether a zone comes directly after the date.
func (s *timeScanner) zoneFollows() bool {
	rest := strings.TrimPrefix(s.rest, " ")
	return rest != "" && strings.IndexByte("Zz+-", rest[0]) >= 0 && (rest[0] != '-' || len(rest) > len("-hh"))
}

// zone reads an optional zone and returns the seconds east of UTC.
func (s *timeScanner) zone() int {
	space := s.cut(" ")
	sign := 1
	switch {
	case s.rest == "" && !space:
		return 0
	case s.cut("Z"), s.cut("z"):
		return 0
	case s.cut("-"):
		sign = -1
	case s.cut("+"):
	case !space, len(s.rest) != len("hh:mm") && len(s.rest) != len("hh:mm:ss"), s.rest[2] != ':':
		s.problem = timeUnreadable
		return 0
	}
	hours, minutes, seconds := s.number(2), 0, 0
	if s.cut(":") || s.rest != "" {
		minutes = s.number(2)
	}
	if s.cut(":") || s.rest != "" {
		seconds = s.number(2)
	}
	if hours > 23 || minutes > 59 || seconds > 59 {
		s.problem = timeNoSuchClock
	}
	return sign * (hours*3600 + minutes*60 + seconds)
}
