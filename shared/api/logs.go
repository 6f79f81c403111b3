package api

import (
	"bytes"
	"encoding/json"

	"github.com/orrery/orrery/shared/search"
)

// logsBody prints the answer of logs in a coding, at most limit bytes long. When the records do not all fit, it
// stops before the first that might not, and meta says so.
//
// How long a compressed record will be is known only once it is compressed. So a record counts with its own
// length, which it cannot exceed by much, until the compressor is flushed; that is done only when the room
// seems used up, so a well compressed answer is flushed some dozens of times.
func logsBody(e encoding, records []json.RawMessage, meta search.Meta, limit int) []byte {
	stopped := meta
	stopped.Truncated = &search.Truncated{Reason: "bytes"}
	room := limit - len(resultsOpen) - len(resultsClose) - len(encode(stopped)) - 2 - 64 // braces, the coding's own frame

	return compressing(e, func(w compressor, out *bytes.Buffer) error {
		if _, err := w.Write([]byte(resultsOpen)); err != nil {
			return err
		}
		unflushed := 0
		for i, record := range records {
			need := len(record) + 1
			if out.Len()+worstCase(unflushed+need) > room && unflushed > 0 {
				if err := w.Flush(); err != nil {
					return err
				}
				unflushed = 0
			}
			if out.Len()+worstCase(need) > room {
				meta = stopped
				break
			}
			if i > 0 {
				if _, err := w.Write([]byte{','}); err != nil {
					return err
				}
			}
			if _, err := w.Write(record); err != nil {
				return err
			}
			if e != identity {
				unflushed += need
			}
		}
		_, err := w.Write(append(append([]byte(resultsClose), encode(meta)...), '}'))
		return err
	})
}

// The container of the data routes.
const (
	resultsOpen  = `{"data":{"results":[`
	resultsClose = `]},"meta":`
)

// worstCase is how long n bytes are when compressing them makes them longer.
func worstCase(n int) int { return n + n/512 + 32 }
