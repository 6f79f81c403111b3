package gen

import (
	"strconv"
	"time"
)

// spoiler turns ordinary records hostile. It gives each record another way to write its time, then up to five of
// the changes below; what is left alone stays comparable.
//
// Whatever it does, a line stays valid JSON, names of members stay unique within their object (JSON leaves open
// what a repetition means), and the times stay in order and within the period.
type spoiler struct {
	random   source
	from     int64 // epoch nanoseconds
	last     int64 // the last record's time
	members  []member
	scratch  []byte
	position []int
}

func newSpoiler(seed uint64, from int64) *spoiler {
	ns := from * int64(time.Millisecond)
	return &spoiler{random: newSource(seed, streamNasty), from: ns, last: ns}
}

// changes is what may happen to a record.
var changes = []func(*spoiler){
	(*spoiler).hostileText, (*spoiler).hostileText, (*spoiler).hostileText,
	(*spoiler).hostileList, (*spoiler).hostilePairs, (*spoiler).enginePairs, (*spoiler).otherEntries,
	(*spoiler).otherOpen, (*spoiler).otherStruct,
	(*spoiler).mistypedNumber, (*spoiler).mistypedFlag, (*spoiler).mistypedAny,
	(*spoiler).null, (*spoiler).absent, (*spoiler).unknown, (*spoiler).longValue, (*spoiler).shuffled,
}

// spoil rewrites the record that starts at dst[start] and happened at ms.
func (p *spoiler) spoil(dst []byte, start int, ms int64) []byte {
	p.members = splitMembers(p.members[:0], string(dst[start:]))
	p.retime(ms)
	for range p.random.below(6) {
		pick(&p.random, changes)(p)
	}
	return appendMembers(dst[:start], p.members)
}

// set gives a field a value, wherever the field stands.
func (p *spoiler) set(name, value string) {
	for i := range p.members {
		if p.members[i].name == name {
			p.members[i].value = value
			return
		}
	}
	p.members = append(p.members, member{name, value})
}

// retime moves the record to an instant that makes trouble, and writes it with any number of digits and any
// offset. time_period is left alone: it need not fit.
func (p *spoiler) retime(ms int64) {
	s := &p.random
	now := ms*int64(time.Millisecond) + int64(s.below(int(time.Millisecond)))
	at := now
	switch s.below(8) {
	case 0, 1:
		at = p.last // the same instant as the record before
	case 2:
		at = now - mod(now, int64(time.Hour))
	case 3:
		at = now - mod(now, int64(time.Minute))
	case 4:
		at = now - mod(now, int64(time.Minute)) - 1
	case 5:
		at = now - mod(now, int64(time.Second))
	}
	digits := s.below(10)
	at = max(at-mod(at, pow10[9-digits]), p.last)
	p.last = at
	p.members[0].value = string(p.appendTime(p.scratch[:0], at, digits))
}

var pow10 = [...]int64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9}

// mod is the remainder that is never negative.
func mod(a, b int64) int64 { return ((a % b) + b) % b }

// appendTime writes an instant with at least so many digits, all that it has, and an offset of up to 14 hours.
func (p *spoiler) appendTime(b []byte, ns int64, digits int) []byte {
	for digits < 9 && mod(ns, pow10[9-digits]) != 0 {
		digits++
	}
	format := "2006-01-02T15:04:05"
	if digits > 0 {
		format += "." + "000000000"[:digits]
	}
	t := time.Unix(0, ns).UTC()
	if p.random.oneIn(2) {
		t = t.In(time.FixedZone("", 15*60*p.random.between(-48, 56)))
		format += "-07:00"
	} else {
		format += "Z"
	}
	return append(t.AppendFormat(append(b, '"'), format), '"')
}

func (p *spoiler) hostileText() { p.set(pick(&p.random, textFields), p.hostile()) }

func (p *spoiler) hostile() string { return hostile[p.random.below(len(hostile))].literal }

// hostileList gives a list strange elements, one of them twice.
func (p *spoiler) hostileList() {
	name := pick(&p.random, listFields)
	b := []byte{'['}
	for i := range p.random.below(4) {
		if name == `"upstream_status"` {
			b = append(append(b, separator(i, "")...), pick(&p.random, []string{"200", "502", "0", `"404"`, "99999999999999999999", "null", "200.0"})...)
			continue
		}
		h := p.hostile()
		b = append(append(b, separator(i, "")...), h...)
		if p.random.oneIn(3) {
			b = append(append(b, ','), h...)
		}
		if p.random.oneIn(8) {
			b = append(append(b, ','), pick(&p.random, otherValues)...)
		}
	}
	p.set(name, string(append(b, ']')))
}

// hostilePairs gives an object of names and values strange ones of both; a repeated name has a list of values.
func (p *spoiler) hostilePairs() {
	b := []byte{'{'}
	for i, n := range p.names(p.random.below(5)) {
		b = append(append(append(b, separator(i, "")...), pairNames[n]...), ':')
		switch p.random.below(6) {
		case 0:
			b = append(append(append(append(append(b, '['), p.hostile()...), ','), p.hostile()...), ']')
		case 1:
			b = append(b, pick(&p.random, otherValues)...)
		default:
			b = append(b, p.hostile()...)
		}
	}
	p.set(pick(&p.random, pairFields), string(append(b, '}')))
}

// enginePairs writes the same as the engine's list of names and values, where names may repeat.
func (p *spoiler) enginePairs() {
	b := []byte{'['}
	for i := range p.random.below(5) {
		name := pick(&p.random, pairNames)
		for j := range p.random.between(1, 2) {
			b = append(append(b, separator(i+j, "")...), `{"name":`...)
			b = append(append(append(b, name...), `,"value":`...), p.hostile()...)
			b = append(b, '}')
		}
	}
	fields := pairFields
	if p.random.oneIn(3) {
		fields = entryFields
	}
	p.set(pick(&p.random, fields), string(append(b, ']')))
}

// names chooses distinct indices of pairNames.
func (p *spoiler) names(count int) []int {
	p.position = p.position[:0]
	first, step := p.random.below(len(pairNames)), p.random.between(1, len(pairNames)-1)
	for i := range count { // len(pairNames) is prime: no index comes twice
		p.position = append(p.position, (first+i*step)%len(pairNames))
	}
	return p.position
}

func (p *spoiler) otherEntries() {
	p.set(pick(&p.random, entryFields), pick(&p.random, []string{
		`[]`, `{}`, `{"realip":"203.0.113.9","status":"200"}`, `[{"name":"acl","value":7}]`, `[{"name":"acl"},{"value":"x"},{}]`,
		`[{"name":"acl","value":"a","more":true}]`, `["acl",null]`, `[{"name":null,"value":null}]`, `[{"value":"b","name":"flow"},{"name":"flow","value":"b"}]`,
	}))
}

func (p *spoiler) otherOpen() { p.set(pick(&p.random, openFields), pick(&p.random, openValues)) }

func (p *spoiler) otherStruct() {
	name := pick(&p.random, structFields)
	p.set(name, pick(&p.random, structValues[name]))
}

// mistypedNumber gives a number field a number as text, a huge integer, a fraction, or no number at all.
func (p *spoiler) mistypedNumber() {
	name := pick(&p.random, numberFields)
	switch p.random.below(4) {
	case 0:
		p.set(name, `"`+strconv.Itoa(p.random.below(600))+`"`)
	case 1: // 12 digits, more than microseconds hold
		p.set(name, "0."+strconv.Itoa(p.random.between(1e11, 1e12-1)))
	case 2:
		p.set(name, strconv.Itoa(p.random.between(-5, 5)*100))
	default:
		p.set(name, pick(&p.random, otherValues))
	}
}

func (p *spoiler) mistypedFlag() {
	p.set(pick(&p.random, flagFields), pick(&p.random, []string{`"true"`, `"false"`, `1`, `0`, `null`, `""`, `"yes"`, `[]`, `{}`}))
}

func (p *spoiler) mistypedAny() { p.set(p.anyField(), pick(&p.random, otherValues)) }

func (p *spoiler) null() { p.set(p.anyField(), "null") }

func (p *spoiler) absent() {
	name := p.anyField()
	for i := range p.members {
		if p.members[i].name == name {
			p.members = append(p.members[:i], p.members[i+1:]...)
			return
		}
	}
}

// anyField is any field of the specification but the timestamp.
func (p *spoiler) anyField() string {
	all := [][]string{textFields, numberFields, flagFields, listFields, pairFields, entryFields, openFields, structFields}
	n := p.random.below(len(textFields) + len(numberFields) + len(flagFields) + len(listFields) + len(pairFields) + len(entryFields) + len(openFields) + len(structFields))
	for _, fields := range all {
		if n < len(fields) {
			return fields[n]
		}
		n -= len(fields)
	}
	panic("gen: more fields than there are")
}

func (p *spoiler) unknown() {
	value := p.hostile()
	if p.random.oneIn(2) {
		value = pick(&p.random, otherValues)
	}
	p.set(pick(&p.random, unknownNames), value)
}

// longValue is rare: it would be most of the data.
func (p *spoiler) longValue() {
	if !p.random.oneIn(8) {
		return
	}
	value := pick(&p.random, long)
	if p.random.oneIn(2) {
		p.set(pick(&p.random, textFields), value)
		return
	}
	p.set(pick(&p.random, pairFields), `{"long":`+value+`}`)
}

func (p *spoiler) shuffled() {
	for i := len(p.members) - 1; i > 0; i-- {
		j := p.random.below(i + 1)
		p.members[i], p.members[j] = p.members[j], p.members[i]
	}
}
