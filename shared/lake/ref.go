package lake

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"strconv"
)

// Ref is a reference to a record: its time, by which engines find the hour and the row group of the record, and a mark,
// by which they find the record among the records of the same millisecond.
//
// The mark is a hash of the source and of the line, which together belong to one record. A reference does not contain
// source and line themselves, because the lines of two records would reveal how many records of other branches are
// between them. So a reference reveals only the time, which the record has, too.
//
// Source and line refer to the log. They do not change when a record is compacted, when its object is rebuilt from the
// log, or when the schema gets another column. Therefore a reference does not change either.
type Ref struct {
	TsMs int64
	Mark [refMarkBytes]byte
}

const (
	refVersion   = 1
	refMarkBytes = 16
	refChecksum  = 4

	// maxRef is more than the length of any reference.
	maxRef = 64
)

// RefOf returns the reference to a record.
func RefOf(r *Row) Ref { return RefTo(r.TsMs, r.Source, r.Line) }

// RefTo returns the reference to the record of a line of a source, at a time in epoch milliseconds.
func RefTo(tsMs int64, source string, line int64) Ref {
	text := append(make([]byte, 0, 64), source...)
	text = append(text, RefSeparator...)
	sum := sha256.Sum256(strconv.AppendInt(text, line, 10))
	return Ref{TsMs: tsMs, Mark: [refMarkBytes]byte(sum[:])}
}

// A mark is the beginning of SHA-256 of the source, RefSeparator and the digits of the line. Package sqlgen computes
// the same in SQL, with the beginning of the hexadecimal digits.
const (
	RefSeparator = ":"
	RefMarkHex   = 2 * refMarkBytes // length of Ref.MarkHex
)

// MarkHex returns the mark in lower-case hexadecimal digits.
func (r Ref) MarkHex() string { return hex.EncodeToString(r.Mark[:]) }

// String returns the reference as the API prints it and filters accept it: the sequence of bytes
//
//	version time mark checksum
//
// in base64url, with the time as a signed varint. It is 36 characters long for times from 1970 to 2039. The first one
// is always A, so no program takes a reference for a flag or a formula.
func (r Ref) String() string {
	b := binary.AppendVarint([]byte{refVersion}, r.TsMs)
	b = append(b, r.Mark[:]...)
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	return base64.RawURLEncoding.EncodeToString(b)
}

// The errors of ParseRef.
var (
	// ErrRef reports a text that is not a reference, or only a part of one, or has a typing error.
	ErrRef = errors.New("not a reference to a record")
	// ErrRefVersion reports a reference in a format that this version of the program does not know.
	ErrRefVersion = errors.New("a reference of another version")
)

// Refs have times of the years 1 to 9999, like partitions and like the times in filters.
const firstRefMs, lastRefMs = -62_135_596_800_000, 253_402_300_799_999

// ParseRef returns the reference of a text that String has returned. The error is ErrRef or ErrRefVersion.
func ParseRef(text string) (Ref, error) {
	if len(text) > maxRef {
		return Ref{}, ErrRef
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) < 1+refChecksum {
		return Ref{}, ErrRef
	}
	content, checksum := b[:len(b)-refChecksum], b[len(b)-refChecksum:]
	switch {
	case crc32.ChecksumIEEE(content) != binary.BigEndian.Uint32(checksum):
		return Ref{}, ErrRef
	case content[0] != refVersion:
		return Ref{}, ErrRefVersion
	}
	ms, n := binary.Varint(content[1:])
	if n <= 0 || len(content) != 1+n+refMarkBytes || ms < firstRefMs || ms > lastRefMs {
		return Ref{}, ErrRef
	}
	ref := Ref{TsMs: ms, Mark: [refMarkBytes]byte(content[1+n:])}
	if ref.String() != text {
		return Ref{}, ErrRef // the decoder skips line breaks and unused bits, and reads varints that are too long
	}
	return ref, nil
}
