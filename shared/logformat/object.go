package logformat

// object appends the members of one JSON object to b.
type object struct {
	b       []byte
	comma   bool
	written map[string]bool // names of the members so far, if not nil
}

func newObject(dst []byte) object { return object{b: append(dst, '{')} }

func (o *object) close() []byte { return append(o.b, '}') }

func (o *object) name(name string) {
	if o.comma {
		o.b = append(o.b, ',')
	}
	o.comma = true
	if o.written != nil {
		o.written[name] = true
	}
	o.b = append(appendString(o.b, name), ':')
}

// raw appends a member with a value that is already JSON.
func (o *object) raw(name string, value []byte) {
	o.name(name)
	o.b = append(o.b, value...)
}

// text appends a member with a string; it appends nothing if value is nil.
func (o *object) text(name string, value []byte) {
	if value == nil {
		return
	}
	o.name(name)
	o.b = appendString(o.b, value)
}

func (o *object) flag(name string, value bool) {
	o.name(name)
	if value {
		o.b = append(o.b, "true"...)
	} else {
		o.b = append(o.b, "false"...)
	}
}

// pair is a name and a value.
type pair struct{ name, value []byte }

// pairs appends a member with a list of {name, value}; it appends nothing if list is empty.
func (o *object) pairs(name string, list []pair) {
	if len(list) == 0 {
		return
	}
	o.name(name)
	o.b = append(o.b, '[')
	for i, p := range list {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = append(o.b, `{"name":`...)
		o.b = appendString(o.b, p.name)
		o.b = append(o.b, `,"value":`...)
		o.b = append(appendString(o.b, p.value), '}')
	}
	o.b = append(o.b, ']')
}

// texts appends a member with a list of strings; it appends nothing if list is empty.
func (o *object) texts(name string, list [][]byte) {
	if len(list) == 0 {
		return
	}
	o.name(name)
	o.b = append(o.b, '[')
	for i, s := range list {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = appendString(o.b, s)
	}
	o.b = append(o.b, ']')
}

const hexDigits = "0123456789abcdef"

// appendString appends a JSON string. It keeps bytes that are not UTF-8; the decoder counts and replaces them.
func appendString[T string | []byte](b []byte, s T) []byte {
	b = append(b, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(append(b, s[from:]...), '"')
}
