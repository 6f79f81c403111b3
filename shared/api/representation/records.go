package representation

import (
	"bytes"
	"sync"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/search"
)

// Records are the results of logs: search.Records.
type Records interface {
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

// SendLogs calls send with an answer of logs that has as many of the records as fit, and with its meta. fields are the
// fields that the request names, or nil. The body is valid until send returns.
func (c Choice) SendLogs(
	e content.Coding, found Records, fields []string, meta search.Meta, send func(body []byte, meta search.Meta),
) {
	newLayout := func() layout { return layoutFor(c, search.Logs, fields, "") }
	body := bodies.Get().(*bytes.Buffer)
	defer bodies.Put(body)
	body.Reset()
	meta = writeLogs(body, e, newLayout, found, meta, content.MaxAnswer)
	send(body.Bytes(), meta)
}

// writeLogs encodes an answer of logs of at most limit bytes into an empty buffer. It stops before the first record
// that might not fit, and then sets Truncated and Next of the meta that it returns.
//
// The compressed length of a record is known only after a flush. Until then its uncompressed length is counted, which
// compression cannot exceed by much. The compressor is flushed only when the limit seems reached, some dozens of times
// in a well compressed answer.
func writeLogs(
	out *bytes.Buffer, e content.Coding, newLayout func() layout, found Records, meta search.Meta, limit int,
) search.Meta {
	l := newLayout()
	stopped := meta
	stopped.Truncated, stopped.Next = &search.Truncated{Reason: "bytes"}, nil
	const frame = len(`"next":"",`) + 2 + 64 // a member, braces, and the frame of the coding
	room := limit - len(l.open()) - len(l.close(stopped)) - found.LongestNext() - frame

	content.Compressing(e, out, func(w content.Compressor) error {
		c := bodyWriter{w: w, layout: l}
		c.open()
		unflushed := 0
		lines := layOut(newLayout, found)
		defer lines.stop()
		for i := range found.Len() {
			line := lines.next()
			need := len(line)
			if i == 0 && e == content.Identity { // Records have similar lengths, so out rarely grows again
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
			if e != content.Identity {
				unflushed += need
			}
		}
		return c.close(meta)
	})
	return meta
}

// worstCase returns the maximum compressed length of n bytes.
func worstCase(n int) int { return n + n/512 + 32 }
