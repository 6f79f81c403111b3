package api

import (
	"bytes"

	"github.com/orrery/orrery/shared/search"
)

// records are the results of logs: search.Records.
type records interface {
	Len() int
	AppendJSON(dst []byte, i int) []byte
	// Next returns the cursor of the page after the first n records, or nil if no older record matches.
	Next(n int) *string
	// LongestNext returns the length of the longest cursor that Next returns.
	LongestNext() int
}

// logsBody encodes an answer of logs of at most limit bytes. It stops before the first record that might not fit, and
// then sets Truncated and Next of the meta that it returns.
//
// The compressed length of a record is known only after a flush. Until then its uncompressed length is counted, which
// compression cannot exceed by much. The compressor is flushed only when the limit seems reached, some dozens of times
// in a well compressed answer.
func logsBody(e encoding, l layout, found records, meta search.Meta, limit int) ([]byte, search.Meta) {
	stopped := meta
	stopped.Truncated, stopped.Next = &search.Truncated{Reason: "bytes"}, nil
	const frame = len(`"next":"",`) + 2 + 64 // a member, braces, and the frame of the coding
	room := limit - len(l.open()) - len(l.close(stopped)) - found.LongestNext() - frame

	var out bytes.Buffer
	compressing(e, &out, func(w compressor) error {
		c := container{w: w, layout: l}
		c.open()
		unflushed := 0
		var record []byte
		for i := range found.Len() {
			record = found.AppendJSON(record[:0], i)
			line := c.next(record)
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
	return out.Bytes(), meta
}

// worstCase returns the maximum compressed length of n bytes.
func worstCase(n int) int { return n + n/512 + 32 }
