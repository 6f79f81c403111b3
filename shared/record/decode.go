package record

import (
	"bytes"
	"encoding/base64"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/lake"
)

// Decoder decodes lines. It remembers the strings it has seen lately, so one Decoder should read a whole source.
// It is not safe for concurrent use.
type Decoder struct {
	scanner
	arena

	row     *lake.Row
	notes   Notes
	when    instant
	hasTime bool
	badTime []byte // the timestamp's text when it is none
	period  *int64 // time_period as ingested

	seen     seenFields
	unknown  map[string]struct{} // names of unknown members so far
	repeated bool                // a member's name came twice
	follows  [len(fields) + 1]int

	extra, details []byte
	scratch, key   []byte
	compact        []byte

	// Lists being read, before they go to the arena.
	texts    []string
	ints     []int64
	entries  []lake.Pair
	attempts []lake.Upstream
	names    map[string]struct{}
}

// NewDecoder makes a decoder.
func NewDecoder() *Decoder {
	d := &Decoder{unknown: map[string]struct{}{}, names: map[string]struct{}{}}
	d.init()
	return d
}

// Decode reads one line into row and sets everything but Source and Line. The error is always a *Reject.
//
// timestamp may be ISO 8601 with year, month and day first, with or without a zone (then it is UTC), or Unix time as
// a number or its text: seconds, or whole milliseconds, microseconds or nanoseconds by magnitude.
//
// The row stays valid after later calls. What its pointers and slices lead to is shared with other rows: replace
// it, never write through it. Decode does not keep line.
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

// decode reads a line that is valid UTF-8.
func (d *Decoder) decode(line []byte, row *lake.Row) error {
	d.begin(line, row)
	if d.peek() != '{' {
		if d.skip(); d.err == nil && d.peek() == 0 && d.pos == len(d.data) {
			return rejectf(NotObject, "the line is JSON, but no object")
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
	d.seen = seenFields{}
	d.repeated = false
	d.unknown = emptied(d.unknown)
	d.extra, d.details = d.extra[:0], d.details[:0]
}

// finish makes what depends on several members.
func (d *Decoder) finish() error {
	row := d.row
	switch {
	case d.badTime != nil:
		return rejectf(BadTimestamp, "timestamp %.60s is no ISO 8601 or Unix time", d.badTime)
	case !d.hasTime:
		return rejectf(NoTimestamp, "the record has no timestamp")
	}
	row.TsMs, row.TsNanos, row.TsDigits = d.when.ms, d.when.nanos, int64(d.when.digits)
	if d.period != nil {
		row.TimePeriod = *d.period
	} else {
		row.TimePeriod = wholeSeconds(row.TsMs)
	}
	d.promote()
	if len(d.details) > 0 {
		row.Details = d.intern(append(d.details, '}'))
	}
	if len(d.extra) > 0 {
		row.Extra = d.intern(append(d.extra, '}'))
	}
	return nil
}

// promote copies the cookies of the service into their columns: the first of a name, and the rest of that name. A cookie
// takes the place of a member of that name.
func (d *Decoder) promote() {
	var seenID, seenSession bool
	for i := range d.row.Cookies {
		switch cookie := &d.row.Cookies[i]; cookie.Name {
		case "svcid":
			promoteOne(cookie, &seenID, &d.row.SvcID, &d.row.SvcIDMore)
		case "svcsessionid":
			promoteOne(cookie, &seenSession, &d.row.SvcSessionID, &d.row.SvcSessionIDMore)
		}
	}
}

func promoteOne(cookie *lake.Pair, seen *bool, first **string, more *[]string) {
	if *seen {
		*more = append(*more, cookie.Value)
		return
	}
	*first, *seen = &cookie.Value, true
}

func wholeSeconds(ms int64) int64 {
	s := ms / 1000
	if ms%1000 < 0 {
		s--
	}
	return s
}

// member reads one member of the record; last is the field before it, and the result the field it was: most
// records name their fields in the order of the record before.
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
			d.other(raw)
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
		d.extra = appendMember(d.extra, []byte(fields[i].name), d.valueFrom(start))
	}
	return i
}

// other keeps a member that is no field.
func (d *Decoder) other(name []byte) {
	if _, again := d.unknown[string(name)]; again {
		d.repeated = true
	}
	d.unknown[string(name)] = struct{}{}
	d.peek()
	start := d.pos
	d.spaced = false
	if d.skip(); d.err == nil {
		d.extra = appendMember(d.extra, name, d.valueFrom(start))
	}
}

// valueFrom is the text of the value that was read from start on, without white space between its tokens.
func (d *Decoder) valueFrom(start int) []byte {
	if !d.spaced {
		return d.data[start:d.pos]
	}
	d.compact = appendCompact(d.compact[:0], d.data[start:d.pos])
	return d.compact
}

// appendMember appends a member to an object that is open at its end, or empty.
func appendMember(object, name, value []byte) []byte {
	if len(object) == 0 {
		object = append(object, '{')
	} else {
		object = append(object, ',')
	}
	return append(append(appendQuoted(object, name), ':'), value...)
}

// value reads the value of a field into its column and tells whether the column says all of it.
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
	case promoted:
		d.textValue(f.text(d.row))
		return false
	}
	panic("record: unknown kind of field")
}

// seenFields is a set of fields.
type seenFields [(len(fields) + 63) / 64]uint64

// add adds a field and tells whether it was there.
func (s *seenFields) add(i int) bool {
	word, bit := &s[i/64], uint64(1)<<(i%64)
	was := *word&bit != 0
	*word |= bit
	return was
}

// validUTF8 replaces each byte that is no UTF-8 by U+FFFD, as encoding/json does.
func validUTF8(line []byte) []byte {
	var valid []byte
	for len(line) > 0 {
		r, n := utf8.DecodeRune(line)
		valid = utf8.AppendRune(valid, r)
		line = line[n:]
	}
	return valid
}

// lastMembers rewrites a JSON object so that of members with equal names only the last is left.
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
