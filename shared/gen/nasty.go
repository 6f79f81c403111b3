package gen

import (
	"slices"
	"strconv"
	"time"
)

// mutator makes ordinary records hostile. It writes the time of each record in another way, then applies up to five of
// the mutations below. The other members stay the same, so that they remain comparable.
//
// A line always stays valid JSON, names of members stay unique within their object (JSON does not define the meaning of
// repeated names), and the times stay in order and within the period.
type mutator struct {
	random   source
	from     int64 // epoch nanoseconds
	last     int64 // time of the last record, in epoch nanoseconds
	members  []member
	scratch  []byte
	position []int
}

func newMutator(seed uint64, from int64) *mutator {
	ns := from * int64(time.Millisecond)
	return &mutator{random: newSource(seed, streamNasty), from: ns, last: ns}
}

// mutations lists the possible changes of a record; a repeated one is more frequent.
var mutations = []func(*mutator){
	(*mutator).hostileText, (*mutator).hostileText, (*mutator).hostileText,
	(*mutator).hostileList, (*mutator).hostilePairs, (*mutator).enginePairs, (*mutator).otherEntries,
	(*mutator).otherOpen, (*mutator).otherStruct,
	(*mutator).mistypedNumber, (*mutator).mistypedFlag, (*mutator).mistypedAny,
	(*mutator).setNull, (*mutator).remove, (*mutator).addUnknown, (*mutator).longValue, (*mutator).shuffle,
}

// mutate rewrites the record that starts at dst[start] and has the time ms, in epoch milliseconds.
func (p *mutator) mutate(dst []byte, start int, ms int64) []byte {
	p.members = splitMembers(p.members[:0], string(dst[start:]))
	p.retime(ms)
	for range p.random.below(6) {
		pick(&p.random, mutations)(p)
	}
	return appendMembers(dst[:start], p.members)
}

// set sets the value of a field. It adds the field if the record lacks it.
func (p *mutator) set(name, value string) {
	for i := range p.members {
		if p.members[i].name == name {
			p.members[i].value = value
			return
		}
	}
	p.members = append(p.members, member{name, value})
}

// retime moves the record to a difficult instant, and writes it with a random number of digits and a random offset. It
// does not change time_period, which need not agree.
func (p *mutator) retime(ms int64) {
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

// mod returns the remainder of a/b that is not negative.
func mod(a, b int64) int64 { return ((a % b) + b) % b }

// appendTime writes an instant with all its digits of the second, at least the given number, and an offset of up to 14
// hours.
func (p *mutator) appendTime(b []byte, ns int64, digits int) []byte {
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

func (p *mutator) hostileText() { p.set(pick(&p.random, textFields), p.hostile()) }

func (p *mutator) hostile() string { return hostile[p.random.below(len(hostile))].literal }

// hostileList sets a list with hostile elements, some of them repeated.
func (p *mutator) hostileList() {
	name := pick(&p.random, listFields)
	b := []byte{'['}
	for i := range p.random.below(4) {
		if name == `"upstream_status"` {
			status := pick(&p.random, []string{"200", "502", "0", `"404"`, "99999999999999999999", "null", "200.0"})
			b = append(append(b, separator(i, "")...), status...)
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

// hostilePairs sets an object with hostile names and values. A name with several values has a list.
func (p *mutator) hostilePairs() {
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

// enginePairs sets a list of {name, value} as the gateway's engine writes it, where names may repeat.
func (p *mutator) enginePairs() {
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

// names returns distinct random indices of pairNames.
func (p *mutator) names(count int) []int {
	p.position = p.position[:0]
	first, step := p.random.below(len(pairNames)), p.random.between(1, len(pairNames)-1)
	for i := range count { // len(pairNames) is prime: no index comes twice
		p.position = append(p.position, (first+i*step)%len(pairNames))
	}
	return p.position
}

func (p *mutator) otherEntries() {
	p.set(pick(&p.random, entryFields), pick(&p.random, []string{
		`[]`, `{}`, `{"realip":"203.0.113.9","status":"200"}`, `[{"name":"acl","value":7}]`,
		`[{"name":"acl"},{"value":"x"},{}]`, `[{"name":"acl","value":"a","more":true}]`, `["acl",null]`,
		`[{"name":null,"value":null}]`, `[{"value":"b","name":"flow"},{"name":"flow","value":"b"}]`,
	}))
}

func (p *mutator) otherOpen() { p.set(pick(&p.random, openFields), pick(&p.random, openValues)) }

func (p *mutator) otherStruct() {
	name := pick(&p.random, structFields)
	p.set(name, pick(&p.random, structValues[name]))
}

// mistypedNumber sets a number field to a number as text, a number with 12 digits after the point, a small integer,
// possibly negative, or one of otherValues.
func (p *mutator) mistypedNumber() {
	name := pick(&p.random, numberFields)
	switch p.random.below(4) {
	case 0:
		p.set(name, `"`+strconv.Itoa(p.random.below(600))+`"`)
	case 1: // 12 digits, more than microseconds have
		p.set(name, "0."+strconv.Itoa(p.random.between(1e11, 1e12-1)))
	case 2:
		p.set(name, strconv.Itoa(p.random.between(-5, 5)*100))
	default:
		p.set(name, pick(&p.random, otherValues))
	}
}

func (p *mutator) mistypedFlag() {
	values := []string{`"true"`, `"false"`, `1`, `0`, `null`, `""`, `"yes"`, `[]`, `{}`}
	p.set(pick(&p.random, flagFields), pick(&p.random, values))
}

func (p *mutator) mistypedAny() { p.set(p.anyField(), pick(&p.random, otherValues)) }

func (p *mutator) setNull() { p.set(p.anyField(), "null") }

func (p *mutator) remove() {
	name := p.anyField()
	for i := range p.members {
		if p.members[i].name == name {
			p.members = append(p.members[:i], p.members[i+1:]...)
			return
		}
	}
}

// allFields lists the fields of the specification except the timestamp.
var allFields = slices.Concat(
	textFields, numberFields, flagFields, listFields, pairFields, entryFields, openFields, structFields,
)

// anyField returns a random field of the specification except the timestamp.
func (p *mutator) anyField() string { return pick(&p.random, allFields) }

func (p *mutator) addUnknown() {
	value := p.hostile()
	if p.random.oneIn(2) {
		value = pick(&p.random, otherValues)
	}
	p.set(pick(&p.random, unknownNames), value)
}

// longValue is rare, because long values would otherwise be most of the data.
func (p *mutator) longValue() {
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

func (p *mutator) shuffle() {
	for i := len(p.members) - 1; i > 0; i-- {
		j := p.random.below(i + 1)
		p.members[i], p.members[j] = p.members[j], p.members[i]
	}
}
