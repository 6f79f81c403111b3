package record

import (
	"bytes"
	"encoding/base64"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/lake"
)

// Decoder decodes lines. It interns recent strings, so one Decoder should decode a whole source. It is not safe for
// concurrent use.
type Decoder struct {
	scanner
	arena

	row     *lake.Row
	notes   Notes
	when    instant
	hasTime bool
	badTime []byte // the text of an invalid timestamp, or nil
	period  *int64 // the time_period of the line, or nil

	seen     fieldSet
	unknown  map[string]struct{}  // names of the unknown members so far
	repeated bool                 // whether a name occurred twice
	follows  [len(fields) + 1]int // follows[i] is the field that followed field i last time

	extra, details []byte
	misfits        []byte   // members of the line whose values their fields cannot have
	misfitNames    []string // the names of these fields
	restMember     []byte   // the value of a member log_rest of the line
	scratch, key   []byte
	compact        []byte
	rest           remainder

	// Buffers for lists. The complete lists are copied to the arena.
	texts    []string
	ints     []int64
	entries  []lake.Pair
	attempts []lake.Upstream
	names    map[string]struct{}
}

// NewDecoder returns a new Decoder.
func NewDecoder() *Decoder {
	d := &Decoder{unknown: map[string]struct{}{}, names: map[string]struct{}{}}
	d.init()
	d.rest.arena = &d.arena
	return d
}

// Decode decodes one line into row. It resets row and sets all of its members except Source and Line. The error is
// always a *Reject.
//
// timestamp may be ISO 8601 with year, month and day first. Without a zone it is in UTC. It may also be Unix time, as a
// number or as text: seconds, or whole milliseconds, microseconds or nanoseconds, which the magnitude determines.
//
// The row stays valid after later calls. The memory behind its pointers and slices is shared with other rows: replace
// the pointers and slices, but do not write through them. Decode does not retain line.
func (d *Decoder) Decode(line []byte, row *lake.Row) (Notes, error) {
	if len(line) > MaxLine {
		return Notes{}, rejectf(TooLarge, "the line has %d bytes, more than %d", len(line), MaxLine)
	}
	d.notes = Notes{}
	text := line
	if !utf8.Valid(line) {
		d.notes.InvalidUTF8 = true
		text = validUTF8(line)
	}
	if err := d.decode(text, row); err != nil {
		return d.notes, err
	}
	if d.repeated {
		d.notes.Duplicates = true
		if err := d.decode(lastMembers(text), row); err != nil {
			return d.notes, err
		}
	}
	d.notes.InvalidUTF8 = d.notes.InvalidUTF8 || d.lossy
	if d.notes != (Notes{}) {
		raw := base64.StdEncoding.EncodeToString(line)
		row.RawLine = &raw
	}
	return d.notes, nil
}

// decode decodes a line that is valid UTF-8.
func (d *Decoder) decode(line []byte, row *lake.Row) error {
	d.begin(line, row)
	if d.peek() != '{' {
		if d.skip(); d.err == nil && d.peek() == 0 && d.pos == len(d.data) {
			return rejectf(NotObject, "the line is JSON, but not an object")
		}
		d.fail("'{'")
	}
	d.pos++
	last := len(fields)
	for first := true; d.next(first, '}'); first = false {
		last = d.member(last)
	}
	if d.err == nil && (d.peek() != 0 || d.pos < len(d.data)) {
		d.fail("the end of the line")
	}
	if d.err != nil {
		return rejectf(BadJSON, "%v", d.err)
	}
	return d.finish()
}

func (d *Decoder) begin(line []byte, row *lake.Row) {
	d.scanner.reset(line)
	d.arena.record()
	*row = lake.Row{}
	d.row = row
	d.when, d.hasTime, d.badTime, d.period = instant{}, false, nil, nil
	d.seen = fieldSet{}
	d.repeated = false
	d.unknown = emptySet(d.unknown)
	d.extra, d.details, d.rest.pairs = d.extra[:0], d.details[:0], d.rest.pairs[:0]
	d.misfits, d.misfitNames, d.restMember = d.misfits[:0], d.misfitNames[:0], d.restMember[:0]
}

// finish checks the timestamp and sets the columns that depend on several members.
func (d *Decoder) finish() error {
	row := d.row
	switch {
	case d.badTime != nil:
		return rejectf(BadTimestamp, "timestamp %.60s is not ISO 8601 or Unix time", d.badTime)
	case !d.hasTime:
		return rejectf(NoTimestamp, "the record has no timestamp")
	}
	row.TsMs, row.TsNanos, row.TsDigits = d.when.ms, d.when.nanos, int64(d.when.digits)
	if d.period != nil {
		row.TimePeriod = *d.period
	} else {
		row.TimePeriod = wholeSeconds(row.TsMs)
	}
	d.setServiceCookies()
	d.setRest()
	d.setMisfits()
	if len(d.details) > 0 {
		row.Details = d.intern(append(d.details, '}'))
	}
	if len(d.extra) > 0 {
		row.Extra = d.intern(append(d.extra, '}'))
	}
	return nil
}

// setServiceCookies copies the cookies svcid and svcsessionid to their columns: one column for the first cookie of a
// name, one for the others. A cookie replaces the value of a member of the same name.
func (d *Decoder) setServiceCookies() {
	var seenID, seenSession bool
	for i := range d.row.Cookies {
		switch cookie := &d.row.Cookies[i]; cookie.Name {
		case "svcid":
			addServiceCookie(cookie, &seenID, &d.row.SvcID, &d.row.SvcIDMore)
		case "svcsessionid":
			addServiceCookie(cookie, &seenSession, &d.row.SvcSessionID, &d.row.SvcSessionIDMore)
		}
	}
}

func addServiceCookie(cookie *lake.Pair, seen *bool, first **string, more *[]string) {
	if *seen {
		*more = append(*more, cookie.Value)
		return
	}
	*first, *seen = &cookie.Value, true
}

// wholeSeconds converts milliseconds to seconds, rounded down.
func wholeSeconds(ms int64) int64 {
	s := ms / 1000
	if ms%1000 < 0 {
		s--
	}
	return s
}

// member decodes one member of the record. last is the index of the field before it, and the result is the index of
// its own. They serve to guess the field, because most records have their fields in the order of the previous record.
func (d *Decoder) member(last int) int {
	raw, escaped := d.name()
	if escaped {
		d.key = d.unescape(d.key[:0], raw)
		raw = d.key
	}
	if d.err != nil {
		return last
	}
	i := d.follows[last]
	if fields[i].name != string(raw) {
		var known bool
		if i, known = fieldIndex[string(raw)]; !known {
			d.unknownMember(raw)
			return last
		}
		d.follows[last] = i
	}
	d.repeated = d.seen.add(i) || d.repeated
	d.peek()
	start := d.pos
	d.spaced = false
	exact := d.value(&fields[i])
	switch {
	case d.err != nil:
	case fields[i].kind == open:
		d.details = appendMember(d.details, []byte(fields[i].name), d.valueFrom(start))
	case !exact:
		d.inexact(&fields[i], d.valueFrom(start))
	}
	return i
}

// inexact keeps a value that the column of its field does not represent exactly.
func (d *Decoder) inexact(f *field, value []byte) {
	name := []byte(f.name)
	empty := d.isEmpty(f)
	if empty {
		d.rest.add(name, value)
	}
	switch {
	case f.kind == remainingPairs:
		d.restMember = append(d.restMember[:0], value...)
	case empty && !f.takes(value):
		d.misfits = appendMember(d.misfits, name, value)
		d.misfitNames = append(d.misfitNames, f.name)
		if f.pairs != nil {
			*f.pairs(d.row) = nil
		}
	default:
		d.extra = appendMember(d.extra, name, value)
	}
}

// takes reports whether a value that leaves the column of the field empty is of the field's type nevertheless: null,
// names without values, or a number that is too large, as a literal or as text.
func (f *field) takes(value []byte) bool {
	if f.notOfLine() || string(value) == "null" || f.pairs != nil && value[0] == '{' {
		return true
	}
	scale := 0
	switch f.kind {
	case seconds, originSeconds:
		scale = micros
	case whole, timePeriod:
	default:
		return false
	}
	number := bytes.Trim(value, `"`)
	if !isNumber(number) {
		return false
	}
	_, _, ok := parseScaled(number, scale)
	return !ok
}

// unknownMember copies a member that is not a field to extra, and its pairs to the rest.
func (d *Decoder) unknownMember(name []byte) {
	if _, again := d.unknown[string(name)]; again {
		d.repeated = true
	}
	d.unknown[string(name)] = struct{}{}
	d.peek()
	start := d.pos
	d.spaced = false
	if d.skip(); d.err == nil {
		value := d.valueFrom(start)
		d.extra = appendMember(d.extra, name, value)
		d.rest.add(name, value)
	}
}

// valueFrom returns the text of the value that began at start, without white space between its tokens.
func (d *Decoder) valueFrom(start int) []byte {
	if !d.spaced {
		return d.data[start:d.pos]
	}
	d.compact = appendCompact(d.compact[:0], d.data[start:d.pos])
	return d.compact
}

// appendMember appends a member to the text of a JSON object, which is empty or lacks its closing bracket.
func appendMember(object, name, value []byte) []byte {
	if len(object) == 0 {
		object = append(object, '{')
	} else {
		object = append(object, ',')
	}
	return append(append(appendQuotedBytes(object, name), ':'), value...)
}

// value decodes the value of a field into its column and reports whether the column represents it exactly.
func (d *Decoder) value(f *field) (exact bool) {
	switch f.kind {
	case text:
		return d.textValue(f.text(d.row))
	case whole:
		return d.numberValue(f.int(d.row), 0)
	case seconds:
		return d.numberValue(f.int(d.row), micros)
	case originSeconds:
		if d.peek() == 'n' {
			d.word("null")
			d.row.OriginNull = true
			return true
		}
		return d.numberValue(f.int(d.row), micros)
	case flag:
		return d.flagValue(f.flag(d.row))
	case textList:
		return d.textListValue(f.texts(d.row))
	case wholeList:
		return d.wholeListValue(&d.row.UpstreamStatus)
	case pairsObject:
		return d.pairsValue(f.pairs(d.row), true)
	case pairsList:
		return d.pairsValue(f.pairs(d.row), false)
	case open:
		d.openValue(f.pairs(d.row), f.name == "biometric")
		return true
	case timestamp:
		return d.timestampValue()
	case timePeriod:
		return d.numberValue(&d.period, 0)
	case stage:
		return d.stageValue()
	case upstreams:
		return d.upstreamsValue()
	case counters:
		return d.countersValue()
	case config:
		return d.configValue()
	case serviceCookie:
		d.textValue(f.text(d.row))
		return false
	case reference, remainingPairs:
		d.skip()
		return false
	}
	panic("record: unknown kind of field")
}

// fieldSet is a set of fields, by index.
type fieldSet [(len(fields) + 63) / 64]uint64

// add adds a field and reports whether the set contained it.
func (s *fieldSet) add(i int) bool {
	word, bit := &s[i/64], uint64(1)<<(i%64)
	contained := *word&bit != 0
	*word |= bit
	return contained
}

// validUTF8 replaces each byte that is not valid UTF-8 by U+FFFD, as encoding/json does.
func validUTF8(line []byte) []byte {
	var valid []byte
	for len(line) > 0 {
		r, n := utf8.DecodeRune(line)
		valid = utf8.AppendRune(valid, r)
		line = line[n:]
	}
	return valid
}

// lastMembers removes repeated members from a JSON object. Of members with equal names it keeps the last value.
func lastMembers(object []byte) []byte {
	type member struct{ name, text []byte }
	var members []member
	var s scanner
	s.reset(object)
	s.peek()
	s.pos++
	at := map[string]int{}
	for first := true; s.next(first, '}'); first = false {
		start := s.pos
		raw, _ := s.name()
		name := s.unescape(nil, raw)
		s.skip()
		m := member{name, object[start:s.pos]}
		if i, again := at[string(name)]; again {
			members[i] = m
			continue
		}
		at[string(name)] = len(members)
		members = append(members, m)
	}
	texts := make([][]byte, len(members))
	for i := range members {
		texts[i] = members[i].text
	}
	return append(append([]byte{'{'}, bytes.Join(texts, []byte{','})...), '}')
}
