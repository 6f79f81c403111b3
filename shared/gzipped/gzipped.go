// Package gzipped compresses texts in memory with gzip.
package gzipped

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
)

// Of returns a text compressed.
func Of(text []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(text)
	if err := errors.Join(err, w.Close()); err != nil {
		panic("gzipped: " + err.Error()) // a buffer takes everything
	}
	return b.Bytes()
}

// Text returns the text of what Of returned. A content that is cut off or damaged is an error.
func Text(content []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
