package record

import "github.com/orrery/orrery/shared/lake"

// restName is the name of the field with what no other field has. It is also the name of the entry of proxy in which
// formats of text keep the rest of a line.
const restName = "log_rest"

// Each value in an array or object is a pair, within these limits. Beyond them, the array or object, or what is left of
// it, is one value, as JSON. These limits keep the memory of the pairs of a record close to that of its line.
const (
	restDepth = 8           // how many arrays and objects can be around a value
	restPairs = 1000        // which pair of a record is the first that can be an array or object
	restKey   = internLimit // how many bytes the name of an array or object can have
)

// remainder collects the pairs of the column log_rest.
type remainder struct {
	scanner // of the value of one member, which is known to be valid
	arena   *arena
	pairs   []lake.Pair
	key     []byte // the name of the next value: those of the members around it and its own, joined by dots
	text    []byte
}

// add adds the pairs of a member of a record. Numbers and booleans are their literals, and null is no pair.
func (r *remainder) add(name, value []byte) {
	r.reset(value)
	r.key = append(r.key[:0], name...)
	r.value(0)
}

// value reads a value that has depth arrays and objects around it.
func (r *remainder) value(depth int) {
	switch c := r.peek(); {
	case c == '"':
		raw, escaped := r.str()
		if escaped {
			r.text = r.unescape(r.text[:0], raw)
			raw = r.text
		}
		r.pair(raw)
	case c == 'n':
		r.word("null")
	case (c == '{' || c == '[') && depth < restDepth && !r.full() && len(r.key) <= restKey:
		r.elements(c, depth+1)
	default:
		r.text = appendCompact(r.text[:0], r.skip())
		r.pair(r.text)
	}
}

// elements reads the elements of an array or the members of an object, which begins with the bracket open.
func (r *remainder) elements(open byte, depth int) {
	end, outer := open+2, len(r.key) // in ASCII, '}' is '{'+2 and ']' is '['+2
	r.pos++
	for first := true; r.next(first, end); first = false {
		if r.full() {
			r.others(open, end)
			return
		}
		if open == '{' {
			raw, _ := r.name()
			r.key = r.unescape(append(r.key, '.'), raw)
		}
		r.value(depth)
		r.key = r.key[:outer]
	}
}

// others reads the remaining elements of an array or members of an object as one array or object.
func (r *remainder) others(open, end byte) {
	start := r.pos
	for more := true; more; more = r.next(false, end) {
		if open == '{' {
			r.name()
		}
		r.skip()
	}
	r.text = appendCompact(append(r.text[:0], open), r.data[start:r.pos])
	r.pair(r.text)
}

func (r *remainder) full() bool { return len(r.pairs) >= restPairs-1 }

func (r *remainder) pair(value []byte) {
	r.pairs = append(r.pairs, lake.Pair{Name: *r.arena.intern(r.key), Value: *r.arena.intern(value)})
}

// setRest sets the column log_rest. It is nil if there is nothing else, as in ordinary records.
func (d *Decoder) setRest() {
	for i := range d.row.Proxy {
		if p := &d.row.Proxy[i]; p.Name == restName {
			d.rest.pairs = append(d.rest.pairs, lake.Pair{Value: p.Value})
		}
	}
	if len(d.rest.pairs) > 0 {
		d.row.LogRest = keep(&d.arena.pairs, d.rest.pairs)
	}
}

// setMisfits puts the values that their fields cannot have into the member log_rest of extra. A member of that name of
// the line then gets another name, which no member has.
func (d *Decoder) setMisfits() {
	name := restName
	if len(d.misfits) > 0 {
		d.extra = appendMember(d.extra, []byte(restName), append(d.misfits, '}'))
		for taken := true; taken; _, taken = d.unknown[name] {
			name = ingestedPrefix + name
		}
	}
	if len(d.restMember) > 0 {
		d.extra = appendMember(d.extra, []byte(name), d.restMember)
	}
}

// Misfits returns the names of the fields of the line decoded last whose values the fields cannot have. The result is
// valid until the next call of Decode.
func (d *Decoder) Misfits() []string { return d.misfitNames }

// isEmpty reports whether no column holds anything of the value that was read last for a field.
func (d *Decoder) isEmpty(f *field) bool {
	switch {
	case f.text != nil:
		return *f.text(d.row) == nil
	case f.int != nil:
		return *f.int(d.row) == nil
	case f.flag != nil:
		return *f.flag(d.row) == nil
	case f.texts != nil:
		return len(*f.texts(d.row)) == 0
	case f.pairs != nil:
		return len(*f.pairs(d.row)) == 0
	}
	switch f.kind {
	case wholeList:
		return len(d.row.UpstreamStatus) == 0
	case timePeriod:
		return d.period == nil
	case stage:
		return d.row.ProcessingStage == nil
	case upstreams:
		return len(d.row.UpstreamData) == 0
	case counters:
		return d.row.TriggerCounters == nil
	case config:
		return d.row.SecurityConfig == nil
	default:
		return true
	}
}
