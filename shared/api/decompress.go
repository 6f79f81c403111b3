package api

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// decompress returns a body as it was before it was compressed.
func decompress(t testing.TB, e encoding, sent []byte) []byte {
	t.Helper()
	var from io.Reader = bytes.NewReader(sent)
	var err error
	switch e {
	case gzipEncoding:
		from, err = gzip.NewReader(from)
	case zstdEncoding:
		from, err = zstd.NewReader(from)
	}
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	return body
}
