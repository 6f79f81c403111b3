package api

import (
	"bytes"

	"github.com/orrery/orrery/shared/search"
)

// records are the results of logs: search.Records.
type records interface {
	Len() int
	AppendJSON(dst []byte, i int) []byte
}

// logsBody encodes an answer of logs of at most limit bytes. It stops before the first record that might not fit, and
// then sets Truncated of the meta that it returns.
//
// The compressed length of a record is known only after a flush. Until then its uncompressed length is counted, which
// compression cannot exceed by much. The compressor is flushed only when the limit seems reached, some dozens of times
// in a well compressed answer.
func logsBody(e encoding, l layout, found records, meta search.Meta, limit int) ([]byte, search.Meta) {
	stopped := meta
	stopped.Truncated = &search.Truncated{Reason: "bytes"}
	const frame = 2 + 64 // braces, and the frame of the coding
	room := limit - len(l.open()) - len(l.close(stopped)) - frame

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
				meta = stopped
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
