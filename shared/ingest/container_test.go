package ingest

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"
)

// TestRefuseEncodings: a log in another encoding is named for what it is, also without a byte order mark.
func TestRefuseEncodings(t *testing.T) {
	const line = `192.0.2.7 - - [17/May/2026:10:05:03 +0000] "GET /ä HTTP/1.1" 200 5` + "\n"
	encoded := func(mark string, order binary.AppendByteOrder, wide bool) string {
		text := []byte(mark)
		for _, c := range line {
			if wide {
				text = order.AppendUint32(text, uint32(c))
			} else {
				text = order.AppendUint16(text, uint16(c))
			}
		}
		return string(text)
	}
	ebcdic, err := hex.DecodeString("f1f9f24bf04bf24bf74060406040adf1f761d481a861f2f0f2f67af1f07af0f57af0f3404ef0f0f0f0bd" +
		"407fc7c5e340618140c8e3e3d761f14bf17f40f2f0f040f515")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		encoded("\xff\xfe\x00\x00", binary.LittleEndian, true): "this is a UTF-32 file, not a log",
		encoded("\x00\x00\xfe\xff", binary.BigEndian, true):    "this is a UTF-32 file",
		encoded("", binary.LittleEndian, true):                 "this is a UTF-32LE file",
		encoded("", binary.BigEndian, true):                    "this is a UTF-32BE file",
		encoded("\xff\xfe", binary.LittleEndian, false):        "this is a UTF-16 file",
		encoded("\xfe\xff", binary.BigEndian, false):           "this is a UTF-16BE file",
		encoded("", binary.LittleEndian, false):                "iconv -f UTF-16LE -t UTF-8 FILE | orrery import",
		encoded("", binary.BigEndian, false):                   "this is a UTF-16BE file",
		string(ebcdic):                                         "this is a file in EBCDIC",
		strings.ReplaceAll(line+line, "\n", "\r"):              "lines end in carriage returns alone, not a log",
	} {
		if err := refuseContainer([]byte(text), ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for text, want := range map[string]string{
		encoded("\xff\xfe", binary.LittleEndian, false): ": gzip -dc FILE | iconv -f UTF-16 -t UTF-8 | orrery import --as FILE -",
		string(ebcdic): ": gzip -dc FILE | iconv -f IBM1047 -t UTF-8 | sed ",
		strings.ReplaceAll(line+line, "\n", "\r"): `: gzip -dc FILE | tr '\r' '\n' | orrery import --as FILE -`,
	} {
		if err := refuseContainer([]byte(text), "gzip"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q, compressed: %v, want %s", text, err, want)
		}
	}
	for name, text := range map[string]string{
		"text": line + line, "lines of Windows": strings.ReplaceAll(line+line, "\n", "\r\n"), "a line": line[:len(line)-1],
		"half the end of a line": line[:len(line)-1] + "\r", "Chinese": strings.Repeat("日本語の検索", 100), "nothing": "",
		"zeros": strings.Repeat("\x00", 100) + line, "digits": strings.Repeat("0123456789", 100),
		"marks": strings.Repeat("@{}|~`^", 3) + line,
	} {
		if err := refuseContainer([]byte(text), ""); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRefuseContainer checks that every mark of every container is refused, and that the error names the container.
func TestRefuseContainer(t *testing.T) {
	for _, c := range containers {
		for _, mark := range c.marks {
			head := strings.ReplaceAll(mark, "?", "x") + "\x00\nrest"
			if err := refuseContainer([]byte(head), ""); err == nil || !strings.Contains(err.Error(), c.name) {
				t.Errorf("%s by %q: %v", c.name, mark, err)
			}
		}
	}
}
