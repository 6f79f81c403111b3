package ingest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/orrery/orrery/shared/record"
)

const (
	// batchBytes is the size of the text that is decoded at a time.
	batchBytes = 256 << 10
	// maxLine is the maximum length of a line that is decoded: the longest record and a line ending.
	maxLine = record.MaxLine + 2
	// sampleBytes is the number of bytes that are kept of a longer line.
	sampleBytes = 64 << 10
)

// batch holds consecutive lines, or the beginning of one line that is too long.
type batch struct {
	number    int   // number of the batch, from 0
	firstLine int64 // number of the first line in the source
	text      []byte
	continues bool    // the first line is the rest of a line that an earlier import read before it was complete
	open      bool    // the last line has no newline because the input ends
	tooLong   int64   // length in bytes of the line of which text is the beginning; 0 for complete lines
	numbers   []int64 // of the lines, if they are not consecutive; nil if they are

	directive []byte // the last directive before the text, or nil; see logformat.Directed

	reached *sourcePrefix // the source up to the end of the text, if a checkpoint follows; otherwise nil
}

// line returns the number of the i-th line, counted from 0.
func (b *batch) line(i int) int64 {
	if b.numbers != nil {
		return b.numbers[i]
	}
	return b.firstLine + int64(i)
}

// release returns the text to the pool.
func (b *batch) release() {
	text := b.text[:0]
	buffers.Put(&text)
	b.text = nil
}

var buffers = sync.Pool{New: func() any { b := make([]byte, 0, batchBytes+sampleBytes); return &b }}

// sourcePrefix describes a source up to some point.
type sourcePrefix struct {
	lines  int64 // number of the last line
	length int64 // in bytes
	sum    [sha256.Size]byte
}

// lineReader splits an input into batches and hashes what it reads. It begins at a position.
type lineReader struct {
	in     *input
	sum    *prefixSum
	length int64
	lines  int64  // number of the last line of the previous batch
	number int    // number of the next batch
	carry  []byte // text after the last newline of the previous batch

	stop    func() bool // called before every batch, which it may prevent; may be nil
	stopped bool        // stop returned true before the input ended

	every  int64 // bytes between two checkpoints; 0 for none
	marked int64 // length at the last checkpoint

	joins  bool  // the next line continues a line of an earlier import
	leaves bool  // a last line without newline is left to the next import
	left   int64 // its length in bytes

	whole sourcePrefix // up to the last newline; set when run returns
	all   sourcePrefix // up to the end of the input, without a line that is left
}

func newLineReader(in *input, at position, options Options) *lineReader {
	r := &lineReader{in: in, stop: options.Stop, sum: at.sum, length: at.base.Length, lines: at.base.Lines}
	r.every, r.marked = options.Checkpoints.Every, r.length
	r.leaves = in.mayGrow(options)
	r.joins = !at.fresh && !at.base.Terminated
	return r
}

// run sends batches to out until the input ends, and closes out.
func (r *lineReader) run(ctx context.Context, out chan<- batch) error {
	defer close(out)
	if err := r.join(); err != nil {
		return err
	}
	for last := false; !last; {
		if r.stop != nil && r.stop() {
			r.stopped = true
			r.whole = r.prefix()
			r.all = r.whole
			return nil
		}
		directive := r.sum.directives.Last()
		b, end, err := r.next()
		if err != nil {
			return err
		}
		last, b.directive = end, directive
		if len(b.text) == 0 {
			continue
		}
		if !last && r.every > 0 && r.length-r.marked >= r.every {
			reached := r.prefix()
			b.reached, r.marked = &reached, r.length
		}
		select {
		case out <- b:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// join reads the line ending that the last line of the earlier import lacked, if it comes next.
func (r *lineReader) join() error {
	if !r.joins {
		return nil
	}
	next, err := r.in.text.Peek(2)
	if err != nil && err != io.EOF {
		return fmt.Errorf("read: %w", err)
	}
	for _, end := range []string{"\n", "\r\n"} {
		if bytes.HasPrefix(next, []byte(end)) {
			r.joins = false
			r.consume(next[:len(end)])
			_, err = r.in.text.Discard(len(end))
		}
	}
	if err != nil && err != io.EOF {
		return fmt.Errorf("read: %w", err)
	}
	return nil
}

// next reads one batch and reports whether it is the last.
func (r *lineReader) next() (b batch, last bool, err error) {
	text := append((*buffers.Get().(*[]byte))[:0], r.carry...)
	for size := batchBytes; ; size = maxLine {
		if text, last, err = r.fill(text, size); err != nil {
			return batch{}, false, err
		}
		end := bytes.LastIndexByte(text, '\n') + 1
		switch {
		case last:
			r.carry = nil
			return r.lastBatch(text, end), true, nil
		case end > 0:
			r.carry = append(r.carry[:0], text[end:]...)
			r.consume(text[:end])
			return r.batch(text[:end], int64(bytes.Count(text[:end], []byte{'\n'}))), false, nil
		case size == maxLine:
			return r.tooLong(text)
		}
	}
}

// fill reads until the text has size bytes or the input ends. last reports whether the input has ended.
func (r *lineReader) fill(text []byte, size int) (filled []byte, last bool, err error) {
	if len(text) >= size {
		return text, false, nil
	}
	from := len(text)
	if cap(text) < size {
		text = append(make([]byte, 0, size), text...)
	}
	n, err := io.ReadFull(r.in, text[from:size])
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return text[:from+n], true, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read: %w", err)
	}
	return text[:size], false, nil
}

// batch returns a batch of text with the given number of lines.
func (r *lineReader) batch(text []byte, lines int64) batch {
	b := batch{number: r.number, firstLine: r.lines + 1, text: text, continues: r.joins}
	if len(text) == 0 {
		return b // run does not send it
	}
	if r.joins {
		b.firstLine--
		lines--
		r.joins = false
	}
	r.number++
	r.lines += lines
	return b
}

// lastBatch returns the last batch of the input. end is the offset after its last newline.
func (r *lineReader) lastBatch(text []byte, end int) batch {
	if r.leaves {
		r.left = unfinishedBytes(text)
		text = text[:end]
	}
	lines := int64(bytes.Count(text, []byte{'\n'}))
	r.consume(text[:end])
	b := r.batch(text, lines)
	r.whole = r.prefix()
	if end < len(text) {
		b.open = true
		r.consume(text[end:])
		r.lines++
	}
	r.all = r.prefix()
	return b
}

// unfinishedBytes returns the length of the text after the last newline, or 0 if that is only white space.
func unfinishedBytes(text []byte) int64 {
	last := text[bytes.LastIndexByte(text, '\n')+1:]
	if len(bytes.TrimSpace(last)) == 0 {
		return 0
	}
	return int64(len(last))
}

// tooLong reads to the end of a line that is longer than any record, and returns its beginning as a batch. last reports
// whether the input has ended.
func (r *lineReader) tooLong(text []byte) (b batch, last bool, err error) {
	length := int64(len(text))
	before := r.prefix()
	r.consume(text)
	r.carry = nil
	for {
		part, err := r.in.text.ReadSlice('\n')
		length += int64(len(part))
		r.consume(part)
		last = errors.Is(err, io.EOF)
		if err == nil || last {
			if last && r.leaves {
				r.left, r.whole, r.all = length, before, before
				return batch{}, true, nil
			}
			b := r.batch(text[:sampleBytes], 1)
			b.tooLong, b.open = length, last
			r.all = r.prefix()
			if r.whole = r.all; last {
				r.whole = before
			}
			return b, last, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return batch{}, false, fmt.Errorf("read: %w", err)
		}
	}
}

func (r *lineReader) consume(text []byte) {
	_, _ = r.sum.Write(text) // a hash returns no errors
	r.length += int64(len(text))
}

// prefix describes the source up to what has been read.
func (r *lineReader) prefix() sourcePrefix {
	e := sourcePrefix{lines: r.lines, length: r.length}
	r.sum.Sum(e.sum[:0])
	return e
}
