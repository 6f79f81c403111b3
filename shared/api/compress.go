package api

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// encoding is a content coding.
type encoding string

const (
	identity     encoding = ""
	gzipEncoding encoding = "gzip"
	zstdEncoding encoding = "zstd"
)

// encodings are the supported codings in order of preference.
var encodings = []encoding{zstdEncoding, gzipEncoding}

// acceptedCodings is what Accept-Encoding headers accept.
type acceptedCodings struct {
	best  encoding // the one that they prefer; of equal ones the first of encodings, before identity
	plain bool     // they accept an answer that is not compressed
}

// none reports whether no coding is accepted.
func (a acceptedCodings) none() bool { return a.best == identity && !a.plain }

// codingsOf parses Accept-Encoding headers.
func codingsOf(accept []string) acceptedCodings {
	wanted := qualities(strings.Join(accept, ","))
	qualityOf := func(name string) (float64, bool) {
		i := slices.IndexFunc(wanted, func(w quality) bool { return w.value == name })
		if i < 0 {
			return 0, false
		}
		return wanted[i].q, true
	}
	others, all := qualityOf("*")
	best, bestQ := identity, 0.0
	for _, e := range encodings {
		q, named := qualityOf(string(e))
		if !named {
			q = others
		}
		if q > bestQ {
			best, bestQ = e, q
		}
	}
	plain, named := qualityOf("identity")
	if named && plain > bestQ {
		best = identity
	}
	// RFC 9110, section 12.5.3: identity is accepted unless it is refused by its name, or by * without its name.
	return acceptedCodings{best, named && plain > 0 || !named && (!all || others > 0)}
}

// compressor compresses what is written to it. Flush passes everything written so far to the underlying writer.
type compressor interface {
	io.WriteCloser
	Flush() error
	Reset(io.Writer)
}

// pools hold compressors for reuse, because they are large.
var pools = map[encoding]*sync.Pool{
	gzipEncoding: {New: func() any {
		w, err := gzip.NewWriterLevel(nil, 5)
		if err != nil {
			panic(err) // the level is in range
		}
		return w
	}},
	zstdEncoding: {New: func() any {
		w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault))
		if err != nil {
			panic(err) // the options are in range
		}
		return zstdWriter{w}
	}},
}

// zstdWriter adapts the method Reset, which returns no error in gzip.
type zstdWriter struct{ *zstd.Encoder }

func (w zstdWriter) Reset(to io.Writer) { w.Encoder.Reset(to) }

// plainWriter is a compressor that does not compress.
type plainWriter struct{ io.Writer }

func (plainWriter) Flush() error    { return nil }
func (plainWriter) Close() error    { return nil }
func (plainWriter) Reset(io.Writer) {}

// compressing calls write with a compressor that writes to out. It panics on errors: out is in memory, so writing to it
// cannot fail.
func compressing(e encoding, out io.Writer, write func(w compressor) error) {
	var w compressor = plainWriter{out}
	if pool, ok := pools[e]; ok {
		w = pool.Get().(compressor)
		defer pool.Put(w)
		w.Reset(out)
		defer w.Reset(nil) // the pool must not keep out alive
	}
	err := write(w)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic("content: an answer cannot be compressed: " + err.Error())
	}
}

// compress returns a compressed body.
func compress(body []byte, e encoding) []byte {
	var out bytes.Buffer
	compressing(e, &out, func(w compressor) error {
		_, err := w.Write(body)
		return err
	})
	return out.Bytes()
}
