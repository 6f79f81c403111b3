package ingest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/record"
)

// QuarantineFile is the file of rejected lines in the staging directory.
const QuarantineFile = "quarantine.ndjson"

// quarantine writes the lines that are not records to a file, as NDJSON:
//
//	{"line":17,"code":"bad_json","message":"…","text":"the line"}
//
// A line that is not valid UTF-8 has "base64" instead of "text". For a line that is too long, the text is its
// beginning, and "length" is the length of the line in bytes.
type quarantine struct {
	path string
	file *os.File // nil until the first line
	out  *bufio.Writer

	lines *json.Encoder // writes to out
}

// quarantinedLine is the JSON form of a rejected line.
type quarantinedLine struct {
	Line    int64       `json:"line"`
	Code    record.Code `json:"code"`
	Message string      `json:"message"`
	Text    *string     `json:"text,omitempty"`
	Base64  []byte      `json:"base64,omitempty"` // instead of a text that is not UTF-8
	Length  int64       `json:"length,omitempty"` // of the whole line, if the text is only its beginning
}

func (q *quarantine) add(r rejection) error {
	if q.file == nil {
		f, err := os.OpenFile(q.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return fmt.Errorf("make quarantine: %w", err)
		}
		q.file, q.out = f, bufio.NewWriter(f)
		q.lines = json.NewEncoder(q.out)
		q.lines.SetEscapeHTML(false)
	}
	line := quarantinedLine{Line: r.line, Code: r.code, Message: r.reason}
	if text := string(r.text); utf8.ValidString(text) {
		line.Text = &text
	} else {
		line.Base64 = r.text
	}
	if r.length > int64(len(r.text)) {
		line.Length = r.length
	}
	if err := q.lines.Encode(line); err != nil {
		return fmt.Errorf("write quarantine: %w", err)
	}
	return nil
}

// close syncs and closes the file.
func (q *quarantine) close() error {
	if q.file == nil {
		return nil
	}
	err := q.out.Flush()
	if err == nil {
		err = q.file.Sync()
	}
	if err := errors.Join(err, q.file.Close()); err != nil {
		return fmt.Errorf("write quarantine: %w", err)
	}
	return nil
}
