package api

import (
	"bytes"

	"github.com/orrery/orrery/shared/search"
)

// records are what logs answers, printed one at a time: search.Records.
type records interface {
	Len() int
	AppendJSON(dst []byte, i int) []byte
}

// logsBody prints the answer of logs in a coding, at most limit bytes long. When the records do not all fit, it
// stops before the first that might not, and meta says so; those after it are not printed at all.
//
// How long a compressed record will be is known only once it is compressed. So a record counts with its own
// length, which it cannot exceed by much, until the compressor is flushed; that is done only when the room
// seems used up, so a well compressed answer is flushed some dozens of times.
func logsBody(e encoding, found records, meta search.Meta, limit int) []byte {
	stopped := meta
	stopped.Truncated = &search.Truncated{Reason: "bytes"}
	room := limit - len(resultsOpen) - len(resultsClose) - len(encode(stopped)) - 2 - 64 // braces, the coding's own frame

	var out bytes.Buffer
	compressing(e, &out, func(w compressor) error {
		c := container{w: w}
		c.open()
		unflushed := 0
		var record []byte
		for i := range found.Len() {
			record = found.AppendJSON(record[:0], i)
			need := len(record) + 1
			if i == 0 && e == identity { // records are about as long as each other: seldom is room made twice
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
			c.add(record)
			if e != identity {
				unflushed += need
			}
		}
		return c.close(meta)
	})
	return out.Bytes()
}

// worstCase is how long n bytes are when compressing them makes them longer.
func worstCase(n int) int { return n + n/512 + 32 }
