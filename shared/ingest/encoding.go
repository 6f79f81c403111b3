package ingest

import (
	"bytes"
	"slices"
)

// encodings lists the encodings of text that are refused. Byte order marks are among containers; these are recognised
// without a mark.
var encodings = []struct {
	container
	is func(head []byte) bool
}{
	{utf("UTF-32LE"), func(head []byte) bool { return hasZeros(head, ".000") }},
	{utf("UTF-32BE"), func(head []byte) bool { return hasZeros(head, "000.") }},
	{utf("UTF-16LE"), func(head []byte) bool { return hasZeros(head, ".0.0") }},
	{utf("UTF-16BE"), func(head []byte) bool { return hasZeros(head, "0.0.") }},
	{container{name: "a file in EBCDIC", remedy: "Convert it and import the result: " +
		`iconv -f IBM1047 -t UTF-8 FILE | sed 's/\xC2\x85/\n/g' | orrery import --as FILE -`}, isEBCDIC},
	{container{name: "a text whose lines end in carriage returns alone", remedy: "Convert it and import the result: " +
		`tr '\r' '\n' < FILE | orrery import --as FILE -`}, hasOnlyCarriageReturns},
}

// utf describes the files of an encoding of Unicode.
func utf(encoding string) container {
	return container{name: "a " + encoding + " file", remedy: convertText(encoding)}
}

func convertText(encoding string) string {
	return "Convert it and import the result: iconv -f " + encoding + " -t UTF-8 FILE | orrery import --as FILE -"
}

// encodingBytes is the number of bytes that show an encoding. Fewer than encodingLeast do not.
const (
	encodingBytes = 1024
	encodingLeast = 16
)

// hasZeros reports whether nearly all bytes of a text are zero, or not, as in groups of four bytes with this form: '0'
// is a zero, '.' is not.
func hasZeros(text []byte, form string) bool {
	text = text[:min(len(text), encodingBytes)]
	fit := 0
	for i, c := range text {
		if (c == 0) == (form[i%len(form)] == '0') {
			fit++
		}
	}
	return mostly(fit, text)
}

// ebcdic are the ranges of the codes of letters, digits, ASCII marks, the space and ends of lines in EBCDIC, in which
// the code pages agree.
var ebcdic = [][2]byte{
	{0x15, 0x15}, {0x25, 0x25}, {0x40, 0x40}, {0x4b, 0x50}, {0x5a, 0x5e}, {0x60, 0x61}, {0x6b, 0x6f}, {0x7a, 0x7f},
	{0x81, 0x89}, {0x91, 0x99}, {0xa2, 0xa9}, {0xc1, 0xc9}, {0xd1, 0xd9}, {0xe2, 0xe9}, {0xf0, 0xf9},
}

// isEBCDIC reports whether nearly all bytes of a text are codes of EBCDIC.
func isEBCDIC(text []byte) bool {
	text = text[:min(len(text), encodingBytes)]
	fit := 0
	for _, c := range text {
		if slices.ContainsFunc(ebcdic, func(r [2]byte) bool { return r[0] <= c && c <= r[1] }) {
			fit++
		}
	}
	return mostly(fit, text)
}

// mostly reports whether at least nine of ten bytes of a text, which is not too short, are as expected.
func mostly(fit int, text []byte) bool { return len(text) >= encodingLeast && fit*10 >= len(text)*9 }

// hasOnlyCarriageReturns reports whether a text has several lines, of which none ends in a newline.
func hasOnlyCarriageReturns(text []byte) bool {
	return bytes.IndexByte(text, '\n') < 0 && bytes.IndexByte(bytes.TrimRight(text, "\r"), '\r') >= 0
}
