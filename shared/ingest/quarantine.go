package ingest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/record"
)

// QuarantineFile is the file of rejected lines in the staging directory.
const QuarantineFile = "quarantine.ndjson"

// QuarantineName returns the name of the file in quarantine with the rejected lines of an import: <source>.ndjson for
// the first import of a source, and <source>.<generation>.ndjson for the later ones.
func QuarantineName(source string, generation int) string {
	if generation > 1 {
		return fmt.Sprintf("%s.%d.ndjson", source, generation)
	}
	return source + ".ndjson"
}

// ParseQuarantineName returns the import with that file in quarantine. ok is false for the name of any other file.
func ParseQuarantineName(name string) (source string, generation int, ok bool) {
	stem, ok := strings.CutSuffix(name, ".ndjson")
	source, number, later := strings.Cut(stem, ".")
	if !ok || !later {
		return source, 1, ok
	}
	generation, err := strconv.Atoi(number)
	return source, generation, err == nil
}

// quarantine writes the lines that are not records to a file, as NDJSON:
//
//	{"line":17,"code":"bad_json","message":"…","text":"the line"}
//
// A line that is not valid UTF-8 has "base64" instead of "text". For a line that is too long, the text is its
// beginning, and "length" is the length of the line in bytes. "directive" is the last directive before the line, if
// there is one. Lines for which no space is left are only counted. The file exists even if it has no lines.
type quarantine struct {
	path    string
	file    *os.File // nil until the first line
	out     *bufio.Writer
	size    int64 // bytes of the file
	left    int64 // bytes that may be written
	unsaved int64 // lines that are not written

	line  bytes.Buffer
	lines *json.Encoder // writes to line
}

// quarantinedLine is the JSON form of a rejected line.
type quarantinedLine struct {
	Line    int64       `json:"line"`
	Code    record.Code `json:"code"`
	Message string      `json:"message"`
	Text    *string     `json:"text,omitempty"`
	Base64  []byte      `json:"base64,omitempty"` // instead of a text that is not UTF-8
	Length  int64       `json:"length,omitempty"` // of the whole line, if the text is only its beginning

	Directive string `json:"directive,omitempty"`
}

func (q *quarantine) add(r rejection) error {
	if q.file == nil {
		if err := q.open(0); err != nil {
			return err
		}
	}
	line := quarantinedLine{Line: r.line, Code: r.code, Message: r.reason, Directive: string(r.directive)}
	if text := string(r.text); utf8.ValidString(text) {
		line.Text = &text
	} else {
		line.Base64 = r.text
	}
	if r.length > int64(len(r.text)) {
		line.Length = r.length
	}
	q.line.Reset()
	err := q.lines.Encode(line)
	if size := int64(q.line.Len()); err == nil && size > q.left {
		q.left, q.unsaved = 0, q.unsaved+1
	} else if err == nil {
		q.left, q.size = q.left-size, q.size+size
		_, err = q.out.Write(q.line.Bytes())
	}
	if err != nil {
		return fmt.Errorf("write quarantine: %w", err)
	}
	return nil
}

// open opens the file, of which it keeps the first size bytes.
func (q *quarantine) open(size int64) error {
	f, err := os.OpenFile(q.path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("make quarantine: %w", err)
	}
	if err = f.Truncate(size); err == nil {
		_, err = f.Seek(size, io.SeekStart)
	}
	if err != nil {
		return fmt.Errorf("make quarantine: %w", errors.Join(err, f.Close()))
	}
	q.file, q.out, q.size = f, bufio.NewWriter(f), size
	q.lines = json.NewEncoder(&q.line)
	q.lines.SetEscapeHTML(false)
	return nil
}

// sync makes the lines durable.
func (q *quarantine) sync() error {
	if q.file == nil {
		return nil
	}
	err := q.out.Flush()
	if err == nil {
		err = q.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("write quarantine: %w", err)
	}
	return nil
}

// close syncs and closes the file.
func (q *quarantine) close() error {
	if q.file == nil {
		return nil
	}
	err := q.sync()
	if closing := q.file.Close(); closing != nil {
		err = errors.Join(err, fmt.Errorf("write quarantine: %w", closing))
	}
	return err
}

// RejectedLine is a line in quarantine.
type RejectedLine struct {
	Line    int64 // number of the line in its source
	Code    record.Code
	Message string
	Text    []byte
	Whole   bool // Text is the whole line

	Directive []byte // the last one before the line, see logformat.Directive; nil if there is none or it is not known
}

// EachRejected calls yield with every line of a file of quarantined lines, and with its JSON form. Both are valid until
// yield returns.
func EachRejected(path string, yield func(line RejectedLine, form []byte) error) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read quarantine: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	in := bufio.NewReaderSize(f, 1<<20)
	for {
		form, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(form) == 0 {
			return nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read quarantine: %w", err)
		}
		var line quarantinedLine
		if err := json.Unmarshal(form, &line); err != nil {
			return fmt.Errorf("read quarantine %s: %w", path, err)
		}
		r := RejectedLine{
			Line: line.Line, Code: line.Code, Message: line.Message, Text: line.Base64, Whole: line.Length == 0,
		}
		if line.Text != nil {
			r.Text = []byte(*line.Text)
		}
		if line.Directive != "" {
			r.Directive = []byte(line.Directive)
		}
		if err := yield(r, form); err != nil {
			return err
		}
	}
}

// rejectedForm is the number of a rejected line and its JSON form.
type rejectedForm struct {
	line int64
	form []byte
}

// rejectedIn yields the lines of a file of rejected lines, which need not exist.
func rejectedIn(path string) iter.Seq2[rejectedForm, error] {
	return func(yield func(rejectedForm, error) bool) {
		err := EachRejected(path, func(line RejectedLine, form []byte) error {
			if !yield(rejectedForm{line.Line, form}, nil) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) && !errors.Is(err, fs.ErrNotExist) {
			yield(rejectedForm{}, err)
		}
	}
}

// errEnough ends a call of EachRejected.
var errEnough = errors.New("no further lines are needed")
