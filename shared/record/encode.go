package record

import (
	"strconv"

	"github.com/orrery/orrery/shared/lake"
)

// AppendJSON appends the record of a row as the API prints it: one JSON object on one line. names selects fields and
// their order. If names is nil, AppendJSON prints every field of the record, known or not, in the order of the
// catalogue. Fields that the record lacks are omitted.
//
// svcid and svcsessionid are printed only if names contains them. They are cookies, so a record with all fields has
// them among its cookies. record_ref is printed only if names contains it, too. It is the reference to the row. A
// member of that name of the line that was ingested is printed as ingested_record_ref, with all fields. The field
// log_rest is printed only if names contains it, too, because a record with all fields has its values among the others:
// values that their fields cannot have as the members of an object log_rest.
func AppendJSON(dst []byte, row *lake.Row, names []string) []byte {
	e := encoder{dst: append(dst, '{'), row: row}
	if row.Extra != nil {
		e.extra = membersOf(*row.Extra)
	}
	if names == nil {
		e.all()
	} else {
		e.selected(names)
	}
	if last := len(e.dst) - 1; e.dst[last] == ',' {
		e.dst[last] = '}'
		return e.dst
	}
	return append(e.dst, '}')
}

// encoder prints members, each followed by a comma. The encoder of package jx takes twice as long for them, and prints
// texts that are not UTF-8 in another way.
type encoder struct {
	dst   []byte
	row   *lake.Row
	extra []rawMember
}

func (e *encoder) all() {
	for i := range fields {
		switch f := &fields[i]; {
		case f.kind == serviceCookie, f.kind == open, f.notOfLine(), e.overridden(f.name):
		default:
			e.field(f)
		}
	}
	if details := e.row.Details; details != nil {
		e.members(*details)
	}
	switch {
	case e.row.Extra == nil:
	case e.overridden(catalogRef):
		e.renamed()
	default:
		e.members(*e.row.Extra)
	}
}

// members prints the members of an object unchanged.
func (e *encoder) members(object string) {
	if len(object) > len("{}") {
		e.dst = append(append(e.dst, object[1:len(object)-1]...), ',')
	}
}

// catalogRef is the name of the reference to the row.
const catalogRef = "record_ref"

// ingestedPrefix is put in front of the name of a member of a line that a record prints for another purpose.
const ingestedPrefix = "ingested_"

// renamed prints the members of Extra. Members with the name of the reference get another one, which no member has.
func (e *encoder) renamed() {
	name := ingestedPrefix + catalogRef
	for e.overridden(name) {
		name = ingestedPrefix + name
	}
	for _, m := range e.extra {
		if m.name == catalogRef {
			e.name(name)
		} else {
			e.name(string(m.quoted))
		}
		e.dst = append(append(e.dst, m.value...), ',')
	}
}

func (e *encoder) selected(names []string) {
	var details []rawMember
	if e.row.Details != nil {
		details = membersOf(*e.row.Details)
	}
	for _, name := range names {
		i, known := fieldIndex[name]
		if known && fields[i].notOfLine() {
			e.field(&fields[i])
			continue
		}
		if e.raw(e.extra, name) || e.raw(details, name) {
			continue
		}
		if known && fields[i].kind != open {
			e.field(&fields[i])
		}
	}
}

// overridden reports whether Extra contains the field.
func (e *encoder) overridden(name string) bool {
	for i := range e.extra {
		if e.extra[i].name == name {
			return true
		}
	}
	return false
}

// raw prints the member with the given name unchanged and reports whether there is one.
func (e *encoder) raw(members []rawMember, name string) bool {
	for _, m := range members {
		if m.name == name {
			e.name(name)
			e.dst = append(append(e.dst, m.value...), ',')
			return true
		}
	}
	return false
}

// rawMember is a member of Details or Extra with the JSON text of its value.
type rawMember struct {
	name   string
	quoted []byte // the name as written, with its escapes
	value  []byte
}

// membersOf returns the members of a JSON object that Decode has written.
func membersOf(object string) []rawMember {
	var s scanner
	s.reset([]byte(object))
	if s.peek() != '{' {
		return nil
	}
	s.pos++
	var members []rawMember
	for first := true; s.next(first, '}'); first = false {
		raw, escaped := s.name()
		m := rawMember{name: string(raw), quoted: raw}
		if escaped {
			m.name = string(s.unescape(nil, raw))
		}
		m.value = s.skip()
		members = append(members, m)
	}
	return members
}

// field prints a field from its column. It prints nothing if the field is absent.
func (e *encoder) field(f *field) {
	row := e.row
	switch f.kind {
	case text, serviceCookie:
		if v := *f.text(row); v != nil {
			e.name(f.name)
			e.dst = append(appendQuoted(e.dst, *v), ',')
		}
	case whole:
		if v := *f.int(row); v != nil {
			e.name(f.name)
			e.dst = append(strconv.AppendInt(e.dst, *v, 10), ',')
		}
	case seconds, originSeconds:
		if v := *f.int(row); v != nil {
			e.name(f.name)
			e.dst = append(appendSeconds(e.dst, *v), ',')
		} else if f.kind == originSeconds && row.OriginNull {
			e.name(f.name)
			e.dst = append(e.dst, "null,"...)
		}
	case flag:
		if v := *f.flag(row); v != nil {
			e.name(f.name)
			e.dst = append(strconv.AppendBool(e.dst, *v), ',')
		}
	case textList:
		if v := *f.texts(row); v != nil {
			e.name(f.name)
			e.dst = append(appendTexts(e.dst, v), ',')
		}
	case wholeList:
		if row.UpstreamStatus != nil {
			e.name(f.name)
			e.dst = append(appendInts(e.dst, row.UpstreamStatus), ',')
		}
	case pairsObject, remainingPairs:
		if v := *f.pairs(row); v != nil {
			e.name(f.name)
			e.dst = append(appendObject(e.dst, v), ',')
		}
	case pairsList:
		if v := *f.pairs(row); v != nil {
			e.name(f.name)
			e.dst = append(appendPairs(e.dst, v), ',')
		}
	case timestamp:
		e.name(f.name)
		e.dst = append(e.dst, '"')
		e.dst = append(appendTime(e.dst, row.TsMs, row.TsNanos, int(row.TsDigits)), `",`...)
	case timePeriod:
		e.name(f.name)
		e.dst = append(strconv.AppendInt(e.dst, row.TimePeriod, 10), ',')
	case reference:
		e.name(f.name)
		e.dst = append(appendQuoted(e.dst, lake.RefOf(row).String()), ',')
	case stage:
		if v := row.ProcessingStage; v != nil {
			e.name(f.name)
			e.dst = append(appendStage(e.dst, *v), ',')
		}
	case upstreams:
		if row.UpstreamData != nil {
			e.name(f.name)
			e.upstreams()
		}
	case counters:
		if row.TriggerCounters != nil {
			e.name(f.name)
			e.counters(row.TriggerCounters)
		}
	case config:
		if row.SecurityConfig != nil {
			e.name(f.name)
			e.config(row.SecurityConfig)
		}
	default:
		panic("record: unknown kind of field")
	}
}

// name prints the name of a member. The names of fields need no escapes.
func (e *encoder) name(name string) {
	e.dst = append(append(append(e.dst, '"'), name...), `":`...)
}

func (e *encoder) upstreams() {
	e.dst = append(e.dst, '[')
	for i := range e.row.UpstreamData {
		u := &e.row.UpstreamData[i]
		if i > 0 {
			e.dst = append(e.dst, ',')
		}
		e.dst = append(e.dst, '{')
		e.text("addr", u.Addr)
		if u.ResponseUs != nil {
			e.name("response_time")
			e.dst = append(appendSeconds(e.dst, *u.ResponseUs), ',')
		}
		e.int("status", u.Status)
		e.closeObject()
	}
	e.dst = append(e.dst, "],"...)
}

func (e *encoder) counters(c *lake.TriggerCounters) {
	e.dst = append(e.dst, '{')
	e.int("acl", c.ACL)
	e.int("cf", c.CF)
	e.int("cf_restrict", c.CFRestrict)
	e.int("dr", c.DR)
	e.int("gf", c.GF)
	e.int("rl", c.RL)
	e.closeObject()
	e.dst = append(e.dst, ',')
}

func (e *encoder) config(c *lake.SecurityConfig) {
	e.dst = append(e.dst, '{')
	e.flag("acl_active", c.ACLActive)
	e.flag("cf_active", c.CFActive)
	e.int("cf_rules", c.CFRules)
	e.int("gf_rules", c.GFRules)
	e.text("revision", c.Revision)
	e.int("rl_rules", c.RLRules)
	e.text("secpolentryid", c.SecPolEntryID)
	e.text("secpolid", c.SecPolID)
	e.closeObject()
	e.dst = append(e.dst, ',')
}

func (e *encoder) text(name string, v *string) {
	if v != nil {
		e.name(name)
		e.dst = append(appendQuoted(e.dst, *v), ',')
	}
}

func (e *encoder) int(name string, v *int64) {
	if v != nil {
		e.name(name)
		e.dst = append(strconv.AppendInt(e.dst, *v, 10), ',')
	}
}

func (e *encoder) flag(name string, v *bool) {
	if v != nil {
		e.name(name)
		e.dst = append(strconv.AppendBool(e.dst, *v), ',')
	}
}

// closeObject closes an object. The bracket replaces the comma after the last member.
func (e *encoder) closeObject() {
	if last := len(e.dst) - 1; e.dst[last] == ',' {
		e.dst[last] = '}'
		return
	}
	e.dst = append(e.dst, '}')
}

// appendStage prints processing_stage. Text that is a JSON number is printed as a number.
func appendStage(dst []byte, v string) []byte {
	if isNumber([]byte(v)) {
		return append(dst, v...)
	}
	return appendQuoted(dst, v)
}

func appendTexts(dst []byte, texts []string) []byte {
	dst = append(dst, '[')
	for i := range texts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendQuoted(dst, texts[i])
	}
	return append(dst, ']')
}

func appendInts(dst []byte, ints []int64) []byte {
	dst = append(dst, '[')
	for i, v := range ints {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, v, 10)
	}
	return append(dst, ']')
}

func appendPairs(dst []byte, pairs []lake.Pair) []byte {
	dst = append(dst, '[')
	for i := range pairs {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendQuoted(append(dst, `{"name":`...), pairs[i].Name)
		dst = append(appendQuoted(append(dst, `,"value":`...), pairs[i].Value), '}')
	}
	return append(dst, ']')
}

// appendObject prints pairs as an object. A name that occurs several times is printed at its first place, with an array
// of its values.
func appendObject(dst []byte, pairs []lake.Pair) []byte {
	if len(pairs) > manyPairs {
		return appendLargeObject(dst, pairs)
	}
	dst = append(dst, '{')
	var done uint32 // bit i: pair i was printed together with an earlier one
	for i := range pairs {
		if done&(1<<i) != 0 {
			continue
		}
		name := pairs[i].Name
		dst = append(appendQuoted(dst, name), ':')
		value := len(dst)
		dst = appendQuoted(dst, pairs[i].Value)
		several := false
		for j := i + 1; j < len(pairs); j++ {
			if pairs[j].Name != name {
				continue
			}
			done |= 1 << j
			if !several {
				several = true
				dst = append(dst, 0)
				copy(dst[value+1:], dst[value:])
				dst[value] = '['
			}
			dst = appendQuoted(append(dst, ','), pairs[j].Value)
		}
		if several {
			dst = append(dst, ']')
		}
		dst = append(dst, ',')
	}
	if last := len(dst) - 1; dst[last] == ',' {
		dst[last] = '}'
		return dst
	}
	return append(dst, '}')
}

// appendLargeObject is appendObject for more than manyPairs pairs.
func appendLargeObject(dst []byte, pairs []lake.Pair) []byte {
	values := make(map[string][]string, len(pairs))
	names := make([]string, 0, len(pairs))
	for _, p := range pairs {
		if _, old := values[p.Name]; !old {
			names = append(names, p.Name)
		}
		values[p.Name] = append(values[p.Name], p.Value)
	}
	for i, name := range names {
		dst = append(dst, "{,"[min(i, 1)])
		dst = append(appendQuoted(dst, name), ':')
		if v := values[name]; len(v) == 1 {
			dst = appendQuoted(dst, v[0])
		} else {
			dst = appendTexts(dst, v)
		}
	}
	return append(dst, '}')
}

// appendSeconds prints microseconds as seconds without trailing zeros.
func appendSeconds(dst []byte, us int64) []byte {
	if us < 0 {
		dst = append(dst, '-')
		if us == -us { // math.MinInt64, which cannot be negated
			return append(dst, "9223372036854.775808"...)
		}
		us = -us
	}
	dst = strconv.AppendInt(dst, us/1e6, 10)
	if us %= 1e6; us == 0 {
		return dst
	}
	dst = append(dst, '.')
	for unit := int64(1e5); us > 0; unit /= 10 {
		dst = append(dst, byte('0'+us/unit))
		us %= unit
	}
	return dst
}
