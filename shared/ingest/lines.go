package ingest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync"

	"github.com/orrery/orrery/shared/record"
)

const (
	// batchBytes is how much text is decoded at a time.
	batchBytes = 256 << 10
	// maxLine is the longest line that is looked at: the longest record and a line end.
	maxLine = record.MaxLine + 2
	// sampleBytes is how much of a longer line is kept.
	sampleBytes = 64 << 10
)

// batch is a run of whole lines, or the beginning of one line that is too long.
type batch struct {
	number    int   // of the batch, from 0
	firstLine int64 // number of the first line in the source
	text      []byte
	continues bool  // the first line is the rest of one that was imported before it was whole
	open      bool  // the last line has no newline: the input ends in it
	tooLong   int64 // length of the one line that text begins; 0 for whole lines
}

// release gives the text's memory back.
func (b *batch) release() {
	text := b.text[:0]
	buffers.Put(&text)
	b.text = nil
}

var buffers = sync.Pool{New: func() any { b := make([]byte, 0, batchBytes+sampleBytes); return &b }}

// extent is how far an import goes: everything up to the last newline, and what follows it.
type extent struct {
	lines  int64 // number of the last line
	length int64 // bytes from the beginning of the source
	sum    [sha256.Size]byte
}

// lineReader cuts an input into batches and hashes what it reads. It begins at a position.
type lineReader struct {
	in     *input
	sum    hash.Hash
	length int64
	lines  int64  // number of the last line given
	number int    // of the next batch: how many were given
	carry  []byte // beginning of the line that the next batch begins with

	enough  func() bool // asked before every batch; nil for never
	stopped bool        // it was, before the input ended

	joins  bool   // the next line continues one imported before
	leaves bool   // a last line without newline is left
	left   int64  // its bytes
	whole  extent // up to the last newline; valid when run has returned
	all    extent // up to the end, but for what is left
}

func newLineReader(in *input, at position, options Options) *lineReader {
	r := &lineReader{in: in, enough: options.Enough, sum: at.sum, length: at.base.Length, lines: at.base.Lines}
	r.leaves = in.mayGrow(options)
	r.joins = !at.fresh && !at.base.Terminated
	return r
}

// run gives batches until the input ends, and closes out.
func (r *lineReader) run(ctx context.Context, out chan<- batch) error {
	defer close(out)
	if err := r.join(); err != nil {
		return err
	}
	for last := false; !last; {
		if r.enough != nil && r.enough() {
			r.stopped = true
			r.whole = r.soFar()
			r.all = r.whole
			return nil
		}
		b, end, err := r.next()
		if err != nil {
			return err
		}
		last = end
		if len(b.text) == 0 {
			continue
		}
		select {
		case out <- b:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// join reads the line end that the last line of the earlier import lacked, if that is how the input goes on.
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

// next reads one batch and says whether it is the last.
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

// fill reads until the text has a size, or the input ends.
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

// batch makes a batch of text whose lines are counted.
func (r *lineReader) batch(text []byte, lines int64) batch {
	b := batch{number: r.number, firstLine: r.lines + 1, text: text, continues: r.joins}
	if len(text) == 0 {
		return b // run does not give it to anybody
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

// lastBatch makes the batch that the input ends with; its last line begins at end and may be empty.
func (r *lineReader) lastBatch(text []byte, end int) batch {
	if r.leaves {
		r.left = unfinishedBytes(text)
		text = text[:end]
	}
	lines := int64(bytes.Count(text, []byte{'\n'}))
	r.consume(text[:end])
	b := r.batch(text, lines)
	r.whole = r.soFar()
	if end < len(text) {
		b.open = true
		r.consume(text[end:])
		r.lines++
	}
	r.all = r.soFar()
	return b
}

// unfinishedBytes is the length of what follows the last newline of a text; space alone is no line.
func unfinishedBytes(text []byte) int64 {
	last := text[bytes.LastIndexByte(text, '\n')+1:]
	if len(bytes.TrimSpace(last)) == 0 {
		return 0
	}
	return int64(len(last))
}

// tooLong reads off a line longer than any record, keeping its beginning. The input may end in it.
func (r *lineReader) tooLong(text []byte) (b batch, last bool, err error) {
	length := int64(len(text))
	before := r.soFar()
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
			r.all = r.soFar()
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
	r.sum.Write(text) // a hash never fails
	r.length += int64(len(text))
}

func (r *lineReader) soFar() extent {
	e := extent{lines: r.lines, length: r.length}
	r.sum.Sum(e.sum[:0])
	return e
}
