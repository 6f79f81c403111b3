package ingest

import (
	"bytes"
	"strconv"
)

// container is a file format that is refused although its bytes may look like lines: a tar archive contains whole logs.
type container struct {
	name   string // with the article
	remedy string
	marks  []string // the first bytes, in one of these forms; '?' matches any byte
}

const (
	exportLines  = "Export the log from it as lines of text, and import those"
	importWebLog = "Import a log of the web server instead"
)

// containers lists the formats that are refused by their first bytes. Each mark is long enough that no line of text
// begins with it. gzip, bzip2 and zstd are listed for data that was compressed twice: the outer compression has been
// removed before. Archives are listed for archives in archives, and for those whose members cannot be read one by one:
// zip archives that are not files, and archives in a bucket. An xz file may need up to 4 GiB of memory to decompress.
var containers = []container{
	{"a zip archive", unpack("unzip FILE"), []string{"PK\x03\x04", "PK\x05\x06", "PK\x07\x08"}},
	{"a 7z archive", unpack("7z x FILE"), []string{"7z\xbc\xaf\x27\x1c"}},
	{"a RAR archive", unpack("unrar x FILE"), []string{"Rar!\x1a\x07"}},
	{"an xz file", decompress("xz"), []string{"\xfd7zXZ\x00"}},
	{"a bzip2 file", decompress("bzip2"), []string{"BZh?1AY&SY"}},
	{"an LZ4 file", decompress("lz4"), []string{"\x04\x22\x4d\x18"}},
	{"a compress (.Z) file", decompress("gzip"), []string{"\x1f\x9d"}},
	{"a gzip file", decompress("gzip"), []string{"\x1f\x8b"}},
	{"a zstd file", decompress("zstd"), []string{"\x28\xb5\x2f\xfd"}},
	{"a Parquet file", exportLines, []string{"PAR1\x15"}},
	{"an Avro file", exportLines, []string{"Obj\x01"}},
	{"an SQLite database", exportLines, []string{"SQLite format 3\x00"}},
	{"a systemd journal", exportLines + ": journalctl --file FILE -o cat", []string{"LPKSHHRH"}},
	{"a packet capture", importWebLog, []string{
		"\xd4\xc3\xb2\xa1", "\xa1\xb2\xc3\xd4", "\x4d\x3c\xb2\xa1", "\xa1\xb2\x3c\x4d", // pcap
		"\n\r\r\n????\x4d\x3c\x2b\x1a", "\n\r\r\n????\x1a\x2b\x3c\x4d", // pcapng
	}},
	{"a UTF-32 file", convertText("UTF-32"), []string{"\xff\xfe\x00\x00", "\x00\x00\xfe\xff"}},
	{"a UTF-16 file", convertText("UTF-16"), []string{"\xff\xfe"}},
	{"a UTF-16BE file", convertText("UTF-16BE"), []string{"\xfe\xff"}},
}

var tarArchive = container{name: "a tar archive", remedy: unpack("tar -xf FILE")}

func unpack(command string) string { return "Unpack it and import the logs in it: " + command }

func decompress(program string) string {
	return "Decompress it and import the result: " + program + " -dc FILE | orrery import --as FILE -"
}

// refuseContainer returns an error if the beginning of an input, after decompression, is that of a container, or of a
// text in another encoding.
func refuseContainer(head []byte, compression string) error {
	if isTar(head) {
		return notALog(tarArchive, compression)
	}
	for _, c := range containers {
		for _, mark := range c.marks {
			if hasMark(head, mark) {
				return notALog(c, compression)
			}
		}
	}
	for _, e := range encodings {
		if e.is(head) {
			return notALog(e.container, compression)
		}
	}
	return nil
}

func hasMark(head []byte, mark string) bool {
	if len(head) < len(mark) {
		return false
	}
	for i := range len(mark) {
		if mark[i] != '?' && mark[i] != head[i] {
			return false
		}
	}
	return true
}

// tarBlock is the length of a header of a tar archive.
const tarBlock = 512

// isTar reports whether head begins with a tar header. Old headers have no mark, but every header contains the sum of
// its bytes as an octal number, computed with spaces in the place of the sum.
func isTar(head []byte) bool {
	const from, to = 148, 156
	if len(head) < tarBlock {
		return false
	}
	want, err := strconv.ParseUint(string(bytes.Trim(head[from:to], " \x00")), 8, 32)
	if err != nil {
		return false
	}
	sum := uint64((to - from) * ' ')
	for i, c := range head[:tarBlock] {
		if i < from || i >= to {
			sum += uint64(c)
		}
	}
	return sum == want
}
