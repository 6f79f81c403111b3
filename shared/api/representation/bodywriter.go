package representation

import (
	"bytes"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/search"
)

// bodyWriter writes a data answer one result at a time, so that the uncompressed answer is never held in memory as a
// whole. After an error it writes nothing.
type bodyWriter struct {
	w       content.Compressor
	layout  layout
	results int
	err     error
}

const (
	resultsOpen  = `{"data":{"results":[`
	resultsClose = `]},"meta":`
)

func (c *bodyWriter) write(part []byte) {
	if c.err == nil {
		_, c.err = c.w.Write(part)
	}
}

func (c *bodyWriter) open() { c.write(c.layout.open()) }

// next returns a result in the layout of the body, for add.
func (c *bodyWriter) next(result []byte) []byte { return c.layout.result(result, c.results == 0) }

func (c *bodyWriter) add(laidOut []byte) {
	c.write(laidOut)
	c.results++
}

func (c *bodyWriter) flush() {
	if c.err == nil {
		c.err = c.w.Flush()
	}
}

func (c *bodyWriter) close(meta search.Meta) error {
	c.write(c.layout.close(meta))
	return c.err
}

// Results encodes the results of a route, which must not be truncated. The body is nil if its length is more than
// content.MaxAnswer.
func Results[T any](e content.Coding, as Choice, to search.Route, results []T, meta search.Meta) (body []byte, length int) {
	out := &limitedBuffer{limit: content.MaxAnswer}
	content.Compressing(e, out, func(w content.Compressor) error {
		c := bodyWriter{w: w, layout: layoutFor(as, to, nil, meta.TZ)}
		c.open()
		encoder := content.NewEncoder()
		for i := range results {
			text := encoder.Encode(&results[i])
			if i == 0 && e == content.Identity {
				out.kept.Grow(min(len(results)*len(text)*5/4, out.limit)) // the others are about as long
			}
			c.add(c.next(text))
		}
		return c.close(meta)
	})
	return out.kept.Bytes(), out.written
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
