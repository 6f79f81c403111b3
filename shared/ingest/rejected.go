package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/orrery/orrery/shared/ingest/ledger"
	"github.com/orrery/orrery/shared/record"
)

// Rejected describes the lines of a source that were rejected for one reason.
type Rejected struct {
	Source ledger.Source // has only the ID if the ledger does not have the source, because it has no records
	Code   string
	Lines  int64
	First  RejectedLine // an example
	Map    []string     // mappings that fit a log in JSON that was refused, if any are found
}

// AddRejected adds the lines of a file of rejected lines, which is of a source, to a list.
func AddRejected(all []Rejected, source ledger.Source, path string) ([]Rejected, error) {
	first := slices.IndexFunc(all, func(r Rejected) bool { return r.Source.ID == source.ID })
	if first < 0 {
		first = len(all)
	}
	err := EachRejected(path, func(line RejectedLine, _ []byte) error {
		i := slices.IndexFunc(all[first:], func(r Rejected) bool {
			return r.Source.ID == source.ID && r.Code == string(line.Code)
		})
		if i < 0 {
			i = len(all) - first
			line.Text = bytes.Clone(line.Text)
			all = append(all, Rejected{Source: source, Code: string(line.Code), First: line})
		}
		all[first+i].Lines++
		return nil
	})
	return all, err
}

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
