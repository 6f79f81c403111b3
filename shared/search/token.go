package search

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/query"
)

// A token is what a caller sends to continue: a cursor (meta.next, for older records of the same answer) or a head
// (meta.head, for newer records). It is a sequence of bytes in base64url:
//
//	version kind fields checksum
//
// A token is not secret and not signed. It grants nothing: it only narrows an answer to the records on one side of a
// place. The filter comes from the request and the branches from the caller's key, whatever the token contains, and a
// period other than the filter's is refused. The checksum finds tokens that were cut or changed by mistake.
//
// The lines of places show how many other records are between the records of a caller. So package api encrypts the
// tokens of callers that are limited to branches.
const (
	tokenVersion  = 1
	cursorToken   = 'c'
	agingToken    = 'r' // a cursor of a filter with relative times
	headToken     = 'h'
	changeToken   = 'm' // a head with a change
	checksumBytes = 8
	maxToken      = 2_000 // characters; sources are shorter than 100 bytes
)

// cursor is the content of a cursor.
type cursor struct {
	Question [16]byte     // hash of everything else that the request asks
	Period   query.Period // of the first page
	Head     query.Place  // of the first page
	Last     query.Place  // of the last record sent
	Now      time.Time    // the present of the first page; zero if the filter has no relative times
}

func (c cursor) token() string {
	kind := byte(cursorToken)
	if !c.Now.IsZero() {
		kind = agingToken
	}
	b := append([]byte{tokenVersion, kind}, c.Question[:]...)
	b = appendInt(b, c.Period.FromMs)
	b = appendInt(b, c.Period.ToMs)
	b = appendPlace(b, c.Head)
	b = appendPlace(b, c.Last)
	if !c.Now.IsZero() {
		b = appendInt(b, c.Now.Unix())
	}
	return encodeToken(b)
}

// parseCursor decodes the result of cursor.token. It reports whether the text is such a result.
func parseCursor(text string) (c cursor, ok bool) {
	r, ok := decodeToken(text, cursorToken)
	aging := false
	if !ok {
		if r, aging = decodeToken(text, agingToken); !aging {
			return cursor{}, false
		}
	}
	copy(c.Question[:], r.take(len(c.Question)))
	c.Period = query.Period{FromMs: r.int(), ToMs: r.int()}
	c.Head, c.Last = r.place(), r.place()
	if aging {
		seconds := r.int()
		if seconds < year0/1000 || seconds > year9999/1000 {
			return cursor{}, false
		}
		c.Now = time.Unix(seconds, 0).UTC()
	}
	inPeriod := c.Period.FromMs <= c.Last.TsMs && c.Last.TsMs <= c.Period.ToMs
	return c, r.complete() && inPeriod
}

// head is the content of a head.
type head struct {
	Place  query.Place
	Change int64 // the latest one, of engine.Arrivals, when the head was made; 0: not known
}

func tokenOfHead(h head) string {
	if h.Change == 0 {
		return encodeToken(appendPlace([]byte{tokenVersion, headToken}, h.Place))
	}
	return encodeToken(appendInt(appendPlace([]byte{tokenVersion, changeToken}, h.Place), h.Change))
}

// parseHead decodes the result of tokenOfHead. It reports whether the text is such a result.
func parseHead(text string) (head, bool) {
	if r, ok := decodeToken(text, headToken); ok {
		h := head{Place: r.place()}
		return h, r.complete()
	}
	r, ok := decodeToken(text, changeToken)
	if !ok {
		return head{}, false
	}
	h := head{Place: r.place(), Change: r.int()}
	return h, r.complete() && h.Change > 0
}

func appendInt(b []byte, n int64) []byte { return binary.BigEndian.AppendUint64(b, uint64(n)) }

func appendPlace(b []byte, p query.Place) []byte {
	b = appendInt(b, p.TsMs)
	b = appendInt(b, p.TsNanos)
	b = appendInt(b, p.Line)
	b = binary.BigEndian.AppendUint16(b, uint16(len(p.Source)))
	return append(b, p.Source...)
}

// encodeToken returns the token with the given content.
func encodeToken(content []byte) string {
	sum := sha256.Sum256(content)
	return base64.RawURLEncoding.EncodeToString(append(content, sum[:checksumBytes]...))
}

// decodeToken checks version, kind and checksum of a token and returns a reader of its fields.
func decodeToken(text string, kind byte) (*tokenReader, bool) {
	if len(text) > maxToken {
		return nil, false
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) < 2+checksumBytes || base64.RawURLEncoding.EncodeToString(b) != text {
		return nil, false // the decoder skips line breaks and unused bits
	}
	content, checksum := b[:len(b)-checksumBytes], b[len(b)-checksumBytes:]
	sum := sha256.Sum256(content)
	if !bytes.Equal(sum[:checksumBytes], checksum) || content[0] != tokenVersion || content[1] != kind {
		return nil, false
	}
	return &tokenReader{rest: content[2:]}, true
}

// tokenReader reads the fields of a token. After an error it returns zero values.
type tokenReader struct {
	rest   []byte
	failed bool
}

// complete reports whether all fields were valid and nothing follows them.
func (r *tokenReader) complete() bool { return !r.failed && len(r.rest) == 0 }

func (r *tokenReader) take(n int) []byte {
	if len(r.rest) < n {
		r.failed, r.rest = true, nil
		return make([]byte, n)
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

// The times of records, in Unix milliseconds: partitions have years of four digits.
const year0, year9999 = -62_167_219_200_000, 253_402_300_799_999

func (r *tokenReader) int() int64 { return int64(binary.BigEndian.Uint64(r.take(8))) }

// place reads a place. It accepts only places that records can have: partitions have years of four digits, and no SQL
// literal contains NUL or invalid UTF-8.
func (r *tokenReader) place() query.Place {
	p := query.Place{TsMs: r.int(), TsNanos: r.int(), Line: r.int()}
	p.Source = string(r.take(int(binary.BigEndian.Uint16(r.take(2)))))
	possible := year0 <= p.TsMs && p.TsMs <= year9999 && 0 <= p.TsNanos && p.TsNanos < 1_000_000 && p.Line >= 0
	if !possible || !utf8.ValidString(p.Source) || bytes.ContainsRune([]byte(p.Source), 0) {
		r.failed = true
	}
	return p
}
