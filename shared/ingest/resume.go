package ingest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"

	"github.com/orrery/orrery/shared/logformat"
)

// position is the point of a source at which an import begins.
type position struct {
	base  Entry      // the earlier import that ends at this point; zero if there is none
	sum   *prefixSum // of the source up to this point
	fresh bool       // no part of the input was imported before
}

// prefixSum is the hash of the beginning of a source. It also has the last directive in that text.
type prefixSum struct {
	hash.Hash
	directives logformat.Directives
}

func newPrefixSum() *prefixSum { return &prefixSum{Hash: sha256.New()} }

// Write never returns an error.
func (s *prefixSum) Write(p []byte) (int, error) {
	s.directives.Add(p)
	return s.Hash.Write(p)
}

// findPosition finds the longest part of the input that earlier imports of the log have imported. It reads that part
// and leaves the rest unread.
//
// An input may begin like a source and differ from it after an import of it. If the two have less than headBytes in
// common, they are two logs that begin with the same lines, as logs do that begin again after a rotation, and no part
// of the input was imported. Otherwise they are one log, the end of which was changed.
func findPosition(
	ctx context.Context, ledger Ledger, in *input, scratch, log string, head []byte,
) (position, error) {
	known, err := ledger.Candidates(ctx, log, head)
	if err != nil || len(known) == 0 {
		return position{sum: newPrefixSum(), fresh: true}, err
	}
	if err := in.keep(scratch); err != nil {
		return position{}, err
	}
	best, ended := -1, false
	matches := make([]bool, len(known))
	sum, length := newPrefixSum(), int64(0)
	for i, e := range known {
		n, err := copyContext(ctx, sum, in, e.Length-length)
		length += n
		if err != nil {
			return position{}, err
		}
		if ended = length < e.Length; ended {
			break
		}
		matches[i] = bytes.Equal(sum.Sum(nil), e.Sum[:])
		if matches[i] && (best < 0 || known[best].Length < e.Length || e.Latest) {
			best = i
		}
	}
	if ended && (best < 0 || known[best].Length < length) {
		if err := refuseOlderCopy(ctx, ledger, known, matches, length, head); err != nil {
			return position{}, err
		}
	}
	if best >= 0 && !known[best].Latest && known[best].Length < headBytes {
		more, err := in.text.Peek(1)
		if err != nil && err != io.EOF {
			return position{}, fmt.Errorf("read: %w", err)
		}
		if len(more) > 0 || known[best].Length < length {
			best = -1 // another log that begins with the same lines
		}
	}
	if best >= 0 && known[best].Length == length {
		in.forget()
		return position{base: known[best], sum: sum}, nil
	}
	if err := in.rewind(); err != nil {
		return position{}, err
	}
	sum = newPrefixSum()
	if best < 0 {
		return position{sum: sum, fresh: true}, nil
	}
	_, err = copyContext(ctx, sum, in, known[best].Length)
	return position{base: known[best], sum: sum}, err
}

// refuseOlderCopy returns an error if the input, which has ended after length bytes, may be the beginning of a longer
// source: the two have equal heads, and are equal at every length at which the ledger has a sum. The other bytes cannot
// be compared, and if they are equal too, importing the input would count its lines twice.
func refuseOlderCopy(
	ctx context.Context, ledger Ledger, known []Entry, matches []bool, length int64, head []byte,
) error {
	differs := map[string]bool{}
	for i, e := range known {
		if e.Length <= length && !matches[i] {
			differs[e.Source] = true
		}
	}
	for _, e := range slices.Backward(known) {
		if e.Length <= length || differs[e.Source] {
			continue
		}
		kept, err := ledger.Head(ctx, e.Source)
		if err != nil {
			return err
		}
		n := min(len(kept), len(head))
		if bytes.Equal(kept[:n], head[:n]) {
			return olderCopy(length, e)
		}
		differs[e.Source] = true
	}
	return nil
}

// IsOlderCopy reports whether a log is the beginning of an imported log: whether imported has the content of the import
// of, and begins with all of older. Each of them may be compressed.
func IsOlderCopy(ctx context.Context, older, imported io.Reader, of Entry) (same bool, err error) {
	long, err := openInput(imported)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, long.Close()) }()
	short, err := openInput(older)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, short.Close()) }()
	sum := sha256.New()
	length, same, err := compare(ctx, short, io.TeeReader(long, sum))
	if err != nil || !same || length > of.Length {
		return false, err
	}
	if _, err := copyContext(ctx, sum, long, of.Length-length); err != nil {
		return false, err
	}
	return bytes.Equal(sum.Sum(nil), of.Sum[:]), nil
}

// compare reads all of a text and as many bytes of another one. It returns their number, and reports whether the bytes
// are the same. It stops at the first difference.
func compare(ctx context.Context, text, other io.Reader) (length int64, same bool, err error) {
	want, got := make([]byte, headBytes), make([]byte, headBytes)
	for {
		if err := ctx.Err(); err != nil {
			return length, false, err
		}
		n, err := io.ReadFull(text, want)
		ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !ended {
			return length, false, fmt.Errorf("read: %w", err)
		}
		m, err := io.ReadFull(other, got[:n])
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return length, false, fmt.Errorf("read: %w", err)
		}
		length += int64(m)
		if m < n || !bytes.Equal(want[:n], got[:n]) {
			return length, false, nil
		}
		if ended {
			return length, true, nil
		}
	}
}

// copyContext copies up to n bytes until the reader or the context ends. It returns the number of bytes copied.
func copyContext(ctx context.Context, to io.Writer, from io.Reader, n int64) (int64, error) {
	const step = 8 << 20
	var done int64
	for done < n {
		if err := ctx.Err(); err != nil {
			return done, err
		}
		copied, err := io.CopyN(to, from, min(step, n-done))
		done += copied
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return done, fmt.Errorf("read: %w", err)
		}
	}
	return done, nil
}

// sourceID returns the id of a new source of a log with this head. Further sources with the same name and head get a
// number. They are of the same family, so no other import can use the id before this import is committed.
func sourceID(ctx context.Context, ledger Ledger, log string, head []byte) (string, error) {
	sum := sha256.Sum256(slices.Concat([]byte(log), []byte{0}, head))
	stem := hex.EncodeToString(sum[:8])
	id := stem
	for n := 2; ; n++ {
		known, err := ledger.Knows(ctx, id)
		if err != nil {
			return "", err
		}
		if !known {
			return id, nil
		}
		id = fmt.Sprintf("%s-%d", stem, n)
	}
}
