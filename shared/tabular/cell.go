package tabular

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The lines are those of encoding/csv. Most texts in JSON have no escapes, so they are cells as they are. This saves
// most of the time.

// separate writes the comma before a cell. i is the index of the cell in its line.
func (e *Encoder) separate(i int) {
	if i > 0 {
		e.out = append(e.out, ',')
	}
}

// endLine ends the line that begins at start with CR LF. The option of encoding/csv for these line ends would also
// change the line ends within cells. A line without text is a cell in quotes, because readers skip empty lines.
func (e *Encoder) endLine(start int) {
	if len(e.out) == start {
		e.out = append(e.out, `""`...)
	}
	e.out = append(e.out, "\r\n"...)
}

// value writes the cell of a JSON text. Only texts are guarded: a number is a number to a spreadsheet, too, and other
// values begin with a letter, a brace or a bracket.
func (e *Encoder) value(value []byte) error {
	switch {
	case len(value) == 0 || string(value) == "null":
		return nil
	case value[0] != '"':
		e.out = appendCell(e.out, value)
		return nil
	}
	if text := value[1 : len(value)-1]; isPlain(text) {
		e.out = appendText(e.out, text, e.table.Raw)
		return nil
	}
	var text string
	err := json.Unmarshal(value, &text)
	e.out = appendText(e.out, []byte(text), e.table.Raw)
	return err
}

// isPlain reports whether the text between the quotes of a JSON string is the text that it means.
func isPlain(text []byte) bool { return bytes.IndexByte(text, '\\') < 0 && utf8.Valid(text) }

// appendText appends the cell of a text. Unless it is raw, no spreadsheet takes it for a formula.
func appendText(dst, text []byte, raw bool) []byte {
	if first, _ := utf8.DecodeRune(text); raw || len(text) == 0 || !strings.ContainsRune(formulaBegins, first) {
		return appendCell(dst, text)
	}
	return appendCell(dst, append([]byte{'\''}, text...))
}

// formulaBegins has the characters with which a spreadsheet takes a cell for a formula, and those that it leaves out
// before one. Some take the full-width signs of East Asian keyboards for the others.
const formulaBegins = "=+-@\t\r\n\x00＝＋－＠"

// appendCell appends a cell, in quotes if it needs them. The quotes in it are doubled.
func appendCell(dst, text []byte) []byte {
	if !needsQuotes(text) {
		return append(dst, text...)
	}
	dst = append(dst, '"')
	for {
		i := bytes.IndexByte(text, '"')
		if i < 0 {
			return append(append(dst, text...), '"')
		}
		dst = append(append(dst, text[:i+1]...), '"')
		text = text[i+1:]
	}
}

// needsQuotes reports whether encoding/csv puts a cell in quotes. Besides cells with commas, quotes and line ends,
// these are cells that begin with a space, and the end of data in Postgres.
func needsQuotes(text []byte) bool {
	if len(text) == 0 {
		return false
	}
	for i := range len(text) {
		if special[text[i]] {
			return true
		}
	}
	if c := text[0]; c > ' ' && c < utf8.RuneSelf {
		return string(text) == `\.`
	}
	first, _ := utf8.DecodeRune(text)
	return unicode.IsSpace(first)
}

var special = [256]bool{',': true, '"': true, '\r': true, '\n': true}

// member is a member of a JSON object.
type member struct {
	name  string
	value []byte
}

// otherMembers writes the cell of the members that have no column, sorted by name.
func (e *Encoder) otherMembers() error {
	if len(e.others) == 0 {
		return nil
	}
	slices.SortStableFunc(e.others, func(a, b member) int { return strings.Compare(a.name, b.name) })
	e.rest = e.rest[:0]
	for i, m := range e.others {
		if i+1 < len(e.others) && e.others[i+1].name == m.name {
			continue
		}
		e.rest = append(e.rest, separator(len(e.rest)))
		var err error
		if e.rest, err = appendMember(e.rest, m); err != nil {
			return err
		}
	}
	e.out = appendCell(e.out, append(e.rest, '}'))
	return nil
}

// separator returns what comes before a member of an object of which n bytes are written.
func separator(n int) byte {
	if n == 0 {
		return '{'
	}
	return ','
}

// appendMember appends a member as encoding/json does.
func appendMember(dst []byte, m member) ([]byte, error) {
	if name := []byte(m.name); isPlain(name) && isPrintable(name) {
		dst = append(append(append(dst, '"'), name...), '"', ':')
	} else {
		quoted, err := quote(m.name)
		if err != nil {
			return dst, err
		}
		dst = append(append(dst, quoted...), ':')
	}
	if !bytes.ContainsAny(m.value, " \t\r\n") {
		return append(dst, m.value...), nil
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, m.value); err != nil {
		return dst, err
	}
	return append(dst, compact.Bytes()...), nil
}

// isPrintable reports whether a text has only ASCII characters that need no escape, besides backslashes.
func isPrintable(text []byte) bool {
	return !slices.ContainsFunc(text, func(c byte) bool { return c < ' ' || c == '"' || c >= utf8.RuneSelf })
}

func quote(text string) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(text)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
