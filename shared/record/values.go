package record

import (
	"github.com/orrery/orrery/shared/lake"
)

// Each of the methods below decodes one value and reports whether the column represents it exactly. If it does not, the
// text of the value goes to Extra, and the column contains the value that filters compare.

// string reads a string and unescapes it. The result is valid until the next call.
func (d *Decoder) string() []byte {
	raw, escaped := d.str()
	if escaped {
		d.scratch = d.unescape(d.scratch[:0], raw)
		return d.scratch
	}
	return raw
}

// scalarText reads a value and returns the text that filters compare: the text of a string, or a literal. It returns
// nil for null, arrays and objects.
func (d *Decoder) scalarText() []byte {
	switch c := d.peek(); c {
	case '"':
		if b := d.string(); b != nil {
			return b
		}
		return []byte{}
	case '{', '[', 'n':
		d.skip()
		return nil
	default:
		start := d.pos
		d.scalar(c)
		return d.data[start:d.pos]
	}
}

func (d *Decoder) textValue(column **string) (exact bool) {
	switch d.peek() {
	case '"':
		*column = d.intern(d.string())
		return true
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		*column = d.intern(d.number())
		return false
	}
	d.skip()
	return false
}

func (d *Decoder) numberValue(column **int64, scale int) (exact bool) {
	v, has, exact := d.numberIn(scale)
	if has {
		*column = d.Int(v)
	}
	return exact
}

// numberIn decodes a number in units of 10^-scale. has is whether the value is a number. A string that contains exactly
// a number is decoded, too, but it is not exact.
func (d *Decoder) numberIn(scale int) (v int64, has, exact bool) {
	quoted := false
	var literal []byte
	switch c := d.peek(); {
	case c == '"':
		quoted = true
		if literal = d.string(); !isNumber(literal) {
			return 0, false, false
		}
	case c == '-' || '0' <= c && c <= '9':
		if literal = d.number(); literal == nil {
			return 0, false, false
		}
	default:
		d.skip()
		return 0, false, false
	}
	v, exact, ok := parseScaled(literal, scale)
	if !ok || !exact && scale == 0 {
		return 0, false, false
	}
	return v, true, exact && !quoted
}

func (d *Decoder) flagValue(column **bool) (exact bool) {
	switch d.peek() {
	case 't':
		d.word("true")
		*column = boolean(true)
		return true
	case 'f':
		d.word("false")
		*column = boolean(false)
		return true
	case '"':
		switch string(d.string()) {
		case "true":
			*column = boolean(true)
		case "false":
			*column = boolean(false)
		}
		return false
	}
	d.skip()
	return false
}

// textListValue decodes an array of strings. Any other value is decoded as a list of one element, which is not exact.
func (d *Decoder) textListValue(column *[]string) (exact bool) {
	d.texts = d.texts[:0]
	exact = d.elements(func() bool {
		quoted := d.peek() == '"'
		if b := d.scalarText(); b != nil {
			d.texts = append(d.texts, *d.intern(b))
		}
		return quoted
	})
	if exact || len(d.texts) > 0 {
		*column = keep(&d.strings, d.texts)
	}
	return exact
}

// wholeListValue decodes an array of integers. Any other value is decoded as a list of one element, which is not exact.
func (d *Decoder) wholeListValue(column *[]int64) (exact bool) {
	d.ints = d.ints[:0]
	exact = d.elements(func() bool {
		v, has, exact := d.numberIn(0)
		if has {
			d.ints = append(d.ints, v)
		}
		return exact
	})
	if exact || len(d.ints) > 0 {
		*column = keep(&d.integers, d.ints)
	}
	return exact
}

// elements calls element for each element of an array and reports whether all were exact. A value that is not an array
// is treated as its only element, and is not exact.
func (d *Decoder) elements(element func() (exact bool)) (exact bool) {
	if d.peek() != '[' {
		element()
		return false
	}
	d.pos++
	exact = true
	for first := true; d.next(first, ']'); first = false {
		exact = element() && exact
	}
	return exact
}

func (d *Decoder) timestampValue() (exact bool) {
	if d.peek() == 'n' { // null counts as absent
		d.word("null")
		return true
	}
	start := d.pos
	when, ok := parseTime(d.scalarText())
	if !ok {
		d.badTime = d.data[start:d.pos]
		return true
	}
	d.when, d.hasTime, d.badTime = when, true, nil
	if len(when.finer) > 0 {
		d.extra = appendFineTime(d.extra, when)
	}
	return true
}

// appendFineTime appends a timestamp with more than nine digits of the fraction to extra.
func appendFineTime(extra []byte, when instant) []byte {
	nine := appendTime(nil, when.ms, when.nanos, 9)
	all := append(append(nine[:len(nine)-1], when.finer...), 'Z')
	return appendMember(extra, []byte("timestamp"), appendQuotedBytes(nil, all))
}

// stageValue decodes processing_stage. The column contains its text. Text that is a JSON number is printed as a number,
// so a string with such text is not exact.
func (d *Decoder) stageValue() (exact bool) {
	quoted := d.peek() == '"'
	b := d.scalarText()
	if b == nil {
		return false
	}
	d.row.ProcessingStage = d.intern(b)
	return quoted != isNumber(b)
}

// upstreamsValue decodes the attempts at the origin.
func (d *Decoder) upstreamsValue() (exact bool) {
	d.attempts = d.attempts[:0]
	exact = d.elements(func() bool {
		if d.peek() != '{' {
			d.skip()
			return false
		}
		var u lake.Upstream
		exact := d.members(func(name []byte) bool {
			switch string(name) {
			case "addr":
				return d.textMember(&u.Addr)
			case "response_time":
				return d.numberMember(&u.ResponseUs, micros)
			case "status":
				return d.numberMember(&u.Status, 0)
			}
			return d.otherMember()
		})
		d.attempts = append(d.attempts, u)
		return exact
	})
	if exact || len(d.attempts) > 0 {
		d.row.UpstreamData = keep(&d.origins, d.attempts)
	}
	return exact
}

func (d *Decoder) countersValue() (exact bool) {
	if d.peek() != '{' {
		d.skip()
		return false
	}
	c := add(&d.counters)
	d.row.TriggerCounters = c
	return d.members(func(name []byte) bool {
		switch string(name) {
		case "acl":
			return d.numberMember(&c.ACL, 0)
		case "cf":
			return d.numberMember(&c.CF, 0)
		case "cf_restrict":
			return d.numberMember(&c.CFRestrict, 0)
		case "dr":
			return d.numberMember(&c.DR, 0)
		case "gf":
			return d.numberMember(&c.GF, 0)
		case "rl":
			return d.numberMember(&c.RL, 0)
		}
		return d.otherMember()
	})
}

func (d *Decoder) configValue() (exact bool) {
	if d.peek() != '{' {
		d.skip()
		return false
	}
	c := add(&d.configs)
	d.row.SecurityConfig = c
	return d.members(func(name []byte) bool {
		switch string(name) {
		case "acl_active":
			return d.flagMember(&c.ACLActive)
		case "cf_active":
			return d.flagMember(&c.CFActive)
		case "cf_rules":
			return d.numberMember(&c.CFRules, 0)
		case "gf_rules":
			return d.numberMember(&c.GFRules, 0)
		case "revision":
			return d.textMember(&c.Revision)
		case "rl_rules":
			return d.numberMember(&c.RLRules, 0)
		case "secpolentryid":
			return d.textMember(&c.SecPolEntryID)
		case "secpolid":
			return d.textMember(&c.SecPolID)
		}
		return d.otherMember()
	})
}

// members calls member with the name of each member of an object and reports whether all were exact. member must read
// the value. The name is valid until member reads another name.
func (d *Decoder) members(member func(name []byte) (exact bool)) (exact bool) {
	d.pos++
	exact = true
	for first := true; d.next(first, '}'); first = false {
		raw, escaped := d.name()
		if escaped {
			d.key = d.unescape(d.key[:0], raw)
			raw = d.key
		}
		exact = member(raw) && exact
	}
	return exact
}

// The methods below decode the members of a struct. A second value with the same name replaces the first, but is not
// exact.

func (d *Decoder) textMember(column **string) (exact bool) {
	first := *column == nil
	*column = nil
	return d.textValue(column) && first
}

func (d *Decoder) numberMember(column **int64, scale int) (exact bool) {
	first := *column == nil
	*column = nil
	return d.numberValue(column, scale) && first
}

func (d *Decoder) flagMember(column **bool) (exact bool) {
	first := *column == nil
	*column = nil
	return d.flagValue(column) && first
}

func (d *Decoder) otherMember() (exact bool) {
	d.skip()
	return false
}
