package api

import (
	"bytes"
	"sync"

	"github.com/orrery/orrery/shared/search"
)

// records are the results of logs: search.Records.
type records interface {
	Len() int
	AppendJSON(dst []byte, i int) []byte
	// Size returns about how many bytes record i has.
	Size(i int) int
	// Next returns the cursor of the page after the first n records, or nil if no older record matches.
	Next(n int) *string
	// LongestNext returns the length of the longest cursor that Next returns.
	LongestNext() int
}

// bodies are bodies of answers that were sent, whose memory the next ones use. Each has up to maxAnswer bytes.
var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// withLogs calls send with an answer of logs that has as many of the records as fit, and with its meta. fields are those
// that the request names, or nil. The body is valid until send returns.
func withLogs(
	e encoding, as form, found records, fields []string, meta search.Meta, send func(body []byte, meta search.Meta),
) {
	newLayout := func() layout { return layoutFor(as, search.Logs, fields, "") }
	body := bodies.Get().(*bytes.Buffer)
	defer bodies.Put(body)
	body.Reset()
	meta = writeLogs(body, e, newLayout, found, meta, maxAnswer)
	send(body.Bytes(), meta)
}

// writeLogs encodes an answer of logs of at most limit bytes into an empty buffer. It stops before the first record that
// might not fit, and then sets Truncated and Next of the meta that it returns.
//
// The compressed length of a record is known only after a flush. Until then its uncompressed length is counted, which
// compression cannot exceed by much. The compressor is flushed only when the limit seems reached, some dozens of times
// in a well compressed answer.
func writeLogs(
	out *bytes.Buffer, e encoding, newLayout func() layout, found records, meta search.Meta, limit int,
) search.Meta {
	l := newLayout()
	stopped := meta
	stopped.Truncated, stopped.Next = &search.Truncated{Reason: "bytes"}, nil
	const frame = len(`"next":"",`) + 2 + 64 // a member, braces, and the frame of the coding
	room := limit - len(l.open()) - len(l.close(stopped)) - found.LongestNext() - frame

	compressing(e, out, func(w compressor) error {
		c := bodyWriter{w: w, layout: l}
		c.open()
		unflushed := 0
		lines := layOut(newLayout, found)
		defer lines.stop()
		for i := range found.Len() {
			line := lines.next()
			need := len(line)
			if i == 0 && e == identity { // records have similar lengths, so out rarely grows again
				out.Grow(min(limit, need*(found.Len()+1)*9/8))
			}
			if out.Len()+worstCase(unflushed+need) > room && unflushed > 0 {
				c.flush()
				unflushed = 0
			}
			if out.Len()+worstCase(need) > room {
				next := found.Next(i)
				meta, meta.Next = stopped, &next
				break
			}
			c.add(line)
			if e != identity {
				unflushed += need
			}
		}
		return c.close(meta)
	})
	return meta
}

// worstCase returns the maximum compressed length of n bytes.
func worstCase(n int) int { return n + n/512 + 32 }
