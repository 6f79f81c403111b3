package api

import (
	"bytes"

	"github.com/orrery/orrery/shared/search"
)

// container writes the JSON of a data answer one result at a time, so that the uncompressed answer is never held in
// memory as a whole. After an error it writes nothing.
type container struct {
	w       compressor
	results int
	err     error
}

const (
	resultsOpen  = `{"data":{"results":[`
	resultsClose = `]},"meta":`
)

func (c *container) write(parts ...[]byte) {
	for _, part := range parts {
		if c.err == nil {
			_, c.err = c.w.Write(part)
		}
	}
}

func (c *container) open() { c.write([]byte(resultsOpen)) }

func (c *container) add(result []byte) {
	if c.results > 0 {
		c.write([]byte{','})
	}
	c.write(result)
	c.results++
}

func (c *container) flush() {
	if c.err == nil {
		c.err = c.w.Flush()
	}
}

func (c *container) close(meta search.Meta) error {
	c.write([]byte(resultsClose), encode(meta), []byte{'}'})
	return c.err
}

// resultsBody encodes results that must not be truncated.
func resultsBody[T any](e encoding, results []T, meta search.Meta, limit int) *limitedBuffer {
	out := &limitedBuffer{limit: limit}
	compressing(e, out, func(w compressor) error {
		c := container{w: w}
		c.open()
		for i := range results {
			c.add(encode(results[i]))
		}
		return c.close(meta)
	})
	return out
}

// limitedBuffer is a buffer that discards its contents at the limit. It still counts the bytes written.
type limitedBuffer struct {
	kept    bytes.Buffer
	limit   int
	written int
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if b.written += len(p); b.written > b.limit {
		b.kept = bytes.Buffer{}
		return len(p), nil
	}
	return b.kept.Write(p)
}
