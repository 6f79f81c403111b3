package content

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Coding is a content coding.
type Coding string

const (
	Identity Coding = ""
	Gzip     Coding = "gzip"
	Zstd     Coding = "zstd"
)

// codings are the supported codings in order of preference.
var codings = []Coding{Zstd, Gzip}

// Codings is what Accept-Encoding headers accept.
type Codings struct {
	Best  Coding // the one that they prefer; of equal ones the first of codings, before Identity
	Plain bool   // they accept an answer that is not compressed
}

// None reports whether no coding is accepted.
func (a Codings) None() bool { return a.Best == Identity && !a.Plain }

// CodingsOf parses Accept-Encoding headers.
func CodingsOf(accept []string) Codings {
	wanted := qualities(strings.Join(accept, ","))
	qualityOf := func(name string) (float64, bool) {
		i := slices.IndexFunc(wanted, func(w quality) bool { return w.value == name })
		if i < 0 {
			return 0, false
		}
		return wanted[i].q, true
	}
	others, all := qualityOf("*")
	best, bestQ := Identity, 0.0
	for _, e := range codings {
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
		best = Identity
	}
	// RFC 9110, section 12.5.3: identity is accepted unless it is refused by its name, or by * without its name.
	return Codings{best, named && plain > 0 || !named && (!all || others > 0)}
}

// Compressor compresses what is written to it. Flush passes everything written so far to the underlying writer.
type Compressor interface {
	io.WriteCloser
	Flush() error
	Reset(io.Writer)
}

// pools hold compressors for reuse, because they are large.
var pools = map[Coding]*sync.Pool{
	Gzip: {New: func() any {
		w, err := gzip.NewWriterLevel(nil, 5)
		if err != nil {
			panic(err) // the level is in range
		}
		return w
	}},
	Zstd: {New: func() any {
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

// Compressing calls write with a compressor that writes to out. It panics on errors: out is in memory, so writing to it
// cannot fail.
func Compressing(e Coding, out io.Writer, write func(w Compressor) error) {
	var w Compressor = plainWriter{out}
	if pool, ok := pools[e]; ok {
		w = pool.Get().(Compressor)
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

// Compress returns a compressed body.
func Compress(body []byte, e Coding) []byte {
	var out bytes.Buffer
	Compressing(e, &out, func(w Compressor) error {
		_, err := w.Write(body)
		return err
	})
	return out.Bytes()
}
