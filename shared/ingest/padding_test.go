package ingest

import (
	"archive/tar"
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// Texts as the program bzip2 compresses them. The last bytes of a file can be zeros without a padding.
const (
	bzip2Text     = "QlpoOTFBWSZTWVfI3pYAAADAgAAQAAogACGYGYRhdyRThQkFfI3pYA=="                 // "{}\n"
	bzip2OneZero  = "QlpoOTFBWSZTWU/B18AAAAPZgAAQEAAQUAABAAogACIA8oQwIREgfF3JFOFCQT8HXwA="     // {"n":82}
	bzip2TwoZeros = "QlpoOTFBWSZTWcCBkAAAAARZgAAQEAAwkAABAAogACKYHlCDJiEVDw8LuSKcKEhgQMgAAA==" // {"n":172}
)

func decoded(t *testing.T, text string) string {
	t.Helper()
	file, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(file)
}

// textOf returns the decompressed text of an input.
func textOf(compressed string) (string, error) {
	in, err := openInput(strings.NewReader(compressed))
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(in)
	return string(text), errors.Join(err, in.Close())
}

// TestPadding: programs that write blocks of a fixed length fill up the last one with zeros.
func TestPadding(t *testing.T) {
	zeros := func(n int) string { return strings.Repeat("\x00", n) }
	for name, form := range map[string]string{
		"gzip": gzipOf("{}\n"), "bzip2": decoded(t, bzip2Text), "zstd": zstdOf(t, "{}\n"),
	} {
		for _, accepted := range []struct{ name, rest, text string }{
			{"zeros after the end are no text", zeros(10_240), "{}\n"},
			{"one zero after the end", zeros(1), "{}\n"},
			{"two zeros after the end", zeros(2), "{}\n"},
			{"three zeros after the end", zeros(3), "{}\n"},
			{"the longest padding", zeros(maxPadding), "{}\n"},
			{"a second part of the file is text", form, "{}\n{}\n"},
			{"zeros after the second part", form + zeros(512), "{}\n{}\n"},
			{"one zero after the second part", form + zeros(1), "{}\n{}\n"},
		} {
			t.Run(name+": "+accepted.name, func(t *testing.T) {
				if text, err := textOf(form + accepted.rest); err != nil || text != accepted.text {
					t.Errorf("%q, %v", text, err)
				}
			})
		}
		for _, refused := range []struct{ name, rest string }{
			{"more zeros are a lost part of the file", zeros(maxPadding + 100)}, // beyond the mark that a decoder reads
			{"zeros before a second part are a lost part", zeros(512) + form},
			{"other bytes after the end are damage", "this is garbage"},
			{"other bytes after zeros are damage", zeros(512) + "this is garbage"},
			{"other bytes before zeros are damage", "this is garbage" + zeros(512)},
		} {
			t.Run(name+": "+refused.name, func(t *testing.T) {
				if text, err := textOf(form + refused.rest); err == nil || !strings.Contains(err.Error(), "damaged") {
					t.Errorf("%q, %v", text, err)
				}
			})
		}
		t.Run(name+": a file that is cut off anywhere before zeros is damaged", func(t *testing.T) {
			for cut := 1; cut < len(form); cut++ {
				for n := range 5 {
					text, err := textOf(form[:cut] + zeros(n))
					lost := len(form) - cut // of zeros, if the text is whole
					if err == nil && (text != "{}\n" && text != form[:cut]+zeros(n) || n < lost && text == "{}\n") {
						t.Errorf("cut at byte %d, %d zeros: %q", cut, n, text)
					}
				}
			}
		})
		t.Run(name+": a file that is cut off and filled up with zeros is damaged", func(t *testing.T) {
			if text, err := textOf(form[:len(form)-6] + zeros(512)); err == nil {
				t.Errorf("read %q", text)
			}
		})
	}
}

// TestPaddingOfFrames: the end of a zstd file follows from the lengths of its frames and blocks, whatever their form.
func TestPaddingOfFrames(t *testing.T) {
	random := make([]byte, 300_000) // more than two blocks that cannot be compressed
	for i := range random {
		random[i] = byte(i * i * 31 >> 7)
	}
	skipped := "\x50\x2a\x4d\x18\x03\x00\x00\x00abc"
	for name, text := range map[string]string{
		"one byte":              "a",
		"a byte repeated":       strings.Repeat("a", 500_000),
		"text that ends in NUL": "a\x00\x00\x00",
		"several blocks":        string(random),
	} {
		for form, options := range map[string][]zstd.EOption{
			"with a checksum": nil, "without one": {zstd.WithEncoderCRC(false)},
			"in one segment": {zstd.WithSingleSegment(true), zstd.WithEncoderCRC(false)},
		} {
			t.Run(name+" "+form, func(t *testing.T) {
				encoder, err := zstd.NewWriter(nil, options...)
				if err != nil {
					t.Fatal(err)
				}
				compressed := string(encoder.EncodeAll([]byte(text), nil))
				for zeros := range 6 {
					padding := strings.Repeat("\x00", zeros)
					for _, file := range []struct{ content, want string }{
						{compressed + padding, text},
						{compressed + skipped + compressed + padding, text + text},
						{compressed + skipped + padding, text},
					} {
						if got, err := textOf(file.content); err != nil || got != file.want {
							t.Errorf("%d zeros: %d bytes, %v, want %d", zeros, len(got), err, len(file.want))
						}
					}
				}
			})
		}
	}
}

// TestPaddedArchive reads a compressed archive that a program for tapes has written.
func TestPaddedArchive(t *testing.T) {
	var plain bytes.Buffer
	w := tar.NewWriter(&plain)
	err := w.WriteHeader(&tar.Header{Name: "a.log", Mode: 0o644, Size: 3})
	if err == nil {
		_, err = io.WriteString(w, "{}\n")
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	compressed := gzipOf(plain.String())
	archive, _, err := OpenArchive(strings.NewReader(compressed + strings.Repeat("\x00", 10_240-len(compressed))))
	if err != nil {
		t.Fatal(err)
	}
	member, err := archive.Next()
	if err == nil {
		err = readAll(member, 3)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Next(); err != io.EOF { //nolint:errorlint // a wrapped io.EOF is not the end
		t.Errorf("at the end: %v", err)
	}
	if err := archive.Close(); err != nil {
		t.Error(err)
	}
}

// TestBzip2ThatEndsWithZeros: zeros at the end can be those of the last stream.
func TestBzip2ThatEndsWithZeros(t *testing.T) {
	for _, c := range []struct{ name, file, text string }{
		{"one zero", decoded(t, bzip2OneZero), "{\"n\":82}\n"},
		{"two zeros", decoded(t, bzip2TwoZeros), "{\"n\":172}\n"},
		{"one zero in each of two streams", decoded(t, bzip2OneZero) + decoded(t, bzip2OneZero), "{\"n\":82}\n{\"n\":82}\n"},
	} {
		for padding := range 6 {
			if text, err := textOf(c.file + strings.Repeat("\x00", padding)); err != nil || text != c.text {
				t.Errorf("%s, and %d after it: %q, %v", c.name, padding, text, err)
			}
		}
		if text, err := textOf(c.file[:len(c.file)-3]); err == nil {
			t.Errorf("%s, cut off: %q", c.name, text)
		}
	}
}
