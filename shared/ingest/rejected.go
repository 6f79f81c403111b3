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
func NewestCode(path string) (code record.Code, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read quarantine: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("read quarantine: %w", err)
	}
	if info.Size() == 0 {
		return "", nil
	}
	for n := int64(firstTail); ; n *= 4 {
		from := max(0, info.Size()-n)
		text := make([]byte, info.Size()-from)
		if _, err := f.ReadAt(text, from); err != nil {
			return "", fmt.Errorf("read quarantine: %w", err)
		}
		text = bytes.TrimRight(text, "\n")
		begin := bytes.LastIndexByte(text, '\n') + 1
		if begin == 0 && from > 0 {
			continue // the last line is longer
		}
		var line quarantinedLine
		if err := json.Unmarshal(text[begin:], &line); err != nil {
			return "", fmt.Errorf("read quarantine %s: %w", path, err)
		}
		return line.Code, nil
	}
}
