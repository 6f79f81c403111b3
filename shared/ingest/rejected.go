package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/orrery/orrery/shared/record"
)

// firstTail is how much of a file of rejected lines is read first to find its last line.
const firstTail = 64 << 10

// NewestCode returns the reason of the last line in a file of rejected lines. It reads only the end of the file. A file
// without lines, for which there was no space, has no reason.
func NewestCode(path string) (record.Code, error) {
	line, err := newestLine(path)
	return line.Code, err
}

// NewestLine returns the number of the last line in a file of rejected lines, as NewestCode returns its reason.
func NewestLine(path string) (int64, error) {
	line, err := newestLine(path)
	return line.Line, err
}

// newestLine returns the last line in a file of rejected lines, or the zero value if it has none.
func newestLine(path string) (line quarantinedLine, err error) {
	f, err := os.Open(path)
	if err != nil {
		return quarantinedLine{}, fmt.Errorf("read quarantine: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return quarantinedLine{}, fmt.Errorf("read quarantine: %w", err)
	}
	if info.Size() == 0 {
		return quarantinedLine{}, nil
	}
	for n := int64(firstTail); ; n *= 4 {
		from := max(0, info.Size()-n)
		text := make([]byte, info.Size()-from)
		if _, err := f.ReadAt(text, from); err != nil {
			return quarantinedLine{}, fmt.Errorf("read quarantine: %w", err)
		}
		text = bytes.TrimRight(text, "\n")
		begin := bytes.LastIndexByte(text, '\n') + 1
		if begin == 0 && from > 0 {
			continue // the last line is longer
		}
		if err := json.Unmarshal(text[begin:], &line); err != nil {
			return quarantinedLine{}, fmt.Errorf("read quarantine %s: %w", path, err)
		}
		return line, nil
	}
}
