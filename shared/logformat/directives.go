package logformat

import "bytes"

// Directed is a format with directives: lines that are no records, and that determine how the lines after them are
// read. A log may have a directive anywhere.
type Directed interface {
	Format
	// After returns the format of the lines after a directive. It returns false for any other line.
	After(line []byte) (next Format, ok bool)
}

// fieldsDirective begins the directive that lists the fields of the lines after it.
const fieldsDirective = "#Fields:"

// maxDirective is the maximum length of a directive. A longer line is no directive.
const maxDirective = 64 << 10

// Directive returns the directive that lists the fields of the lines after it, if the line is one. Some exports put
// quotes around every line.
func Directive(line []byte) (directive []byte, ok bool) {
	line = bytes.TrimPrefix(line, ByteOrderMark)
	if len(line) > 0 && line[0] == '"' {
		line = unwrap(line)
	}
	return line, bytes.HasPrefix(line, []byte(fieldsDirective))
}

// Directives reads a text in pieces of any length, and keeps its last directive. The zero
// value is ready to use.
type Directives struct {
	last   []byte // the last directive that is complete
	line   []byte // the beginning of the present line, if it may be a directive
	open   bool   // the present line may be a directive
	long   bool   // the present line is too long
	within bool   // the text so far does not end in a newline
}

// Last returns the last directive, which determines how the next line is read, or nil.
func (d *Directives) Last() []byte { return d.last }

// Add reads the next piece of the text.
func (d *Directives) Add(p []byte) {
	for rest := p; len(rest) > 0; {
		if !d.open {
			if rest = fromDirective(rest, d.within); len(rest) == 0 {
				break
			}
			d.open, d.long, d.line = true, false, d.line[:0]
		}
		part, after, ended := bytes.Cut(rest, []byte("\n"))
		if d.long = d.long || len(d.line)+len(part) > maxDirective; !d.long {
			d.line = append(d.line, part...)
		}
		if rest = after; ended {
			d.open, d.within = false, false
			if line, ok := Directive(bytes.TrimSuffix(d.line, []byte("\r"))); ok && !d.long {
				d.last = bytes.Clone(line)
			}
		}
	}
	if len(p) > 0 {
		d.within = p[len(p)-1] != '\n'
	}
}

// fromDirective returns the text from the first line on that may be a directive: it begins with '#', perhaps after a
// quote, or the text ends after the quote, or it begins like a byte order mark. If within is true, the text begins
// within a line.
func fromDirective(text []byte, within bool) []byte {
	if !within && (text[0] == '#' || text[0] == ByteOrderMark[0] || bytes.HasPrefix(text, []byte(`"#`)) || string(text) == `"`) {
		return text
	}
	first := -1
	for _, begin := range []string{"\n#", "\n\"#", "\n" + string(ByteOrderMark[:1])} {
		if i := bytes.Index(text, []byte(begin)); i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	if first < 0 && bytes.HasSuffix(text, []byte("\n\"")) {
		first = len(text) - 2
	}
	if first < 0 {
		return nil
	}
	return text[first+1:]
}
