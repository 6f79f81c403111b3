package athena

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// table reads a result object in Athena's CSV format: values are in double quotes, quotes in them are doubled, NULL is
// an empty field without quotes, and every row ends with a line feed. It exists because encoding/csv does not
// distinguish NULL from the empty string.
type table struct{ r *bufio.Reader }

func newTable(r io.Reader) *table { return &table{bufio.NewReaderSize(r, 64<<10)} }

var errTable = errors.New("the object is not in Athena's CSV format")

// next reads a row. NULL is nil. The error is io.EOF after the last row.
func (t *table) next() ([]*string, error) {
	if _, err := t.r.Peek(1); err != nil {
		return nil, err
	}
	var row []*string
	for {
		cell, end, err := t.cell()
		if err != nil {
			return nil, unexpectedEOF(err)
		}
		row = append(row, cell)
		if end == '\n' {
			return row, nil
		}
	}
}

// cell reads a value and the comma or line feed after it.
func (t *table) cell() (value *string, end byte, err error) {
	first, err := t.r.ReadByte()
	switch {
	case err != nil:
		return nil, 0, err
	case first == ',' || first == '\n':
		return nil, first, nil
	case first != '"':
		return nil, 0, errTable
	}
	var text strings.Builder
	for {
		piece, err := t.r.ReadSlice('"')
		text.Write(piece)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		next, err := t.r.ReadByte()
		switch {
		case err != nil:
			return nil, 0, err
		case next == ',' || next == '\n':
			s := strings.TrimSuffix(text.String(), `"`)
			return &s, next, nil
		case next != '"':
			return nil, 0, errTable
		}
	}
}

// unexpectedEOF replaces io.EOF by io.ErrUnexpectedEOF.
func unexpectedEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
