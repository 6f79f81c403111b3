package record

import "github.com/orrery/orrery/shared/lake"

// manyPairs is the number of pairs from which names are looked up in a map instead of one by one.
const manyPairs = 32

// pairsValue decodes names and values in either shape, object or list of {name, value}. asObject is whether the field
// is printed as an object. A list is exact in both cases, because the conversion of lists to objects is a documented
// normalisation.
func (d *Decoder) pairsValue(column *[]lake.Pair, asObject bool) (exact bool) {
	d.entries = d.entries[:0]
	switch d.peek() {
	case '{':
		exact = d.pairsObject() && asObject
	case '[':
		exact = d.pairsList()
	default:
		d.skip()
		return false
	}
	*column = keep(&d.arena.pairs, d.entries)
	return exact
}

// pairsObject decodes {"name": value, "name": [value, value]}. A value other than a string is stored as its text and is
// not exact. An array of fewer than two values and a repeated name are not exact either.
func (d *Decoder) pairsObject() (exact bool) {
	d.names = emptySet(d.names)
	return d.members(func(raw []byte) bool {
		start := len(d.entries)
		name := *d.intern(raw)
		exact := d.nameIsNew(name)
		if d.peek() != '[' {
			return d.addEntry(name) && exact
		}
		exact = d.elements(func() bool { return d.addEntry(name) }) && exact
		return exact && len(d.entries)-start >= 2
	})
}

// nameIsNew reports whether no entry has the name.
func (d *Decoder) nameIsNew(name string) bool {
	if len(d.entries) < manyPairs {
		for i := range d.entries {
			if d.entries[i].Name == name {
				return false
			}
		}
		return true
	}
	if len(d.names) == 0 {
		for i := range d.entries {
			d.names[d.entries[i].Name] = struct{}{}
		}
	}
	_, old := d.names[name]
	d.names[name] = struct{}{}
	return !old
}

// pairsList decodes [{"name": …, "value": …}]. Any other element is not exact. It is stored if it has a name and a
// value.
func (d *Decoder) pairsList() (exact bool) {
	return d.elements(func() bool {
		if d.peek() != '{' {
			d.skip()
			return false
		}
		var name, value *string
		exact := d.members(func(member []byte) bool {
			switch string(member) {
			case "name":
				return d.textMember(&name)
			case "value":
				first := value == nil
				quoted := d.peek() == '"'
				value = d.entryText()
				return first && quoted
			}
			return d.otherMember()
		})
		if name == nil || value == nil {
			return false
		}
		d.entries = append(d.entries, lake.Pair{Name: *name, Value: *value})
		return exact
	})
}

// addEntry decodes a value of a name. Only strings are exact. null adds no entry.
func (d *Decoder) addEntry(name string) (exact bool) {
	quoted := d.peek() == '"'
	if value := d.entryText(); value != nil {
		d.entries = append(d.entries, lake.Pair{Name: name, Value: *value})
	}
	return quoted
}

// entryText decodes any value as text: a string is unescaped, a literal is copied, and a nested value becomes compact
// JSON. It returns nil for null.
func (d *Decoder) entryText() *string {
	switch d.peek() {
	case '"':
		return d.intern(d.string())
	case 'n':
		d.word("null")
		return nil
	}
	d.scratch = appendCompact(d.scratch[:0], d.skip())
	return d.intern(d.scratch)
}

// openValue decodes any value: the entries of an array, or a single entry. Filters see every member of every entry as a
// name and a text, and an entry that is not an object as a text without a name. If biometric is set, an entry that is
// exactly {name, value} becomes a single name and text.
func (d *Decoder) openValue(column *[]lake.Pair, biometric bool) {
	d.entries = d.entries[:0]
	switch d.peek() {
	case 'n':
		d.word("null")
		return
	case '[':
		d.elements(func() bool { return d.openEntry(biometric) })
	default:
		d.openEntry(biometric)
	}
	*column = keep(&d.arena.pairs, d.entries)
}

func (d *Decoder) openEntry(biometric bool) (exact bool) {
	if d.peek() != '{' {
		return d.addEntry("")
	}
	start, count := len(d.entries), 0
	d.members(func(raw []byte) bool {
		count++
		name := *d.intern(raw)
		if d.peek() == '[' {
			return d.elements(func() bool { return d.addEntry(name) })
		}
		return d.addEntry(name)
	})
	if biometric && count == 2 {
		d.foldBiometric(start)
	}
	return true
}

// foldBiometric replaces the entries name → a and value → b by the entry a → b. start is the index of the first.
func (d *Decoder) foldBiometric(start int) {
	added := d.entries[start:]
	if len(added) != 2 {
		return
	}
	if added[0].Name == "value" {
		added[0], added[1] = added[1], added[0]
	}
	if added[0].Name != "name" || added[1].Name != "value" {
		return
	}
	added[0] = lake.Pair{Name: added[0].Value, Value: added[1].Value}
	d.entries = d.entries[:start+1]
}
