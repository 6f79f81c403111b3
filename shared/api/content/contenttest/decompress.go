package contenttest

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/orrery/orrery/shared/api/content"
)

// Decompress returns a body as it was before it was compressed.
func Decompress(t testing.TB, e content.Coding, sent []byte) []byte {
	t.Helper()
	var from io.Reader = bytes.NewReader(sent)
	var err error
	switch e {
	case content.Gzip:
		from, err = gzip.NewReader(from)
	case content.Zstd:
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
