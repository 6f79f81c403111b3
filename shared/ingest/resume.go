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
)

// position is the point of a source at which an import begins.
type position struct {
	base  Entry     // the earlier import that ends at this point; zero if there is none
	sum   hash.Hash // of the source up to this point
	fresh bool      // no part of the input was imported before
}

// findPosition finds the longest part of the input that earlier imports have imported. It reads that part and leaves
// the rest unread.
func findPosition(ctx context.Context, ledger Ledger, in *input, scratch string, head []byte) (position, error) {
	known, err := ledger.Candidates(ctx, head)
	if err != nil || len(known) == 0 {
		return position{sum: sha256.New(), fresh: true}, err
	}
	if err := in.keep(scratch); err != nil {
		return position{}, err
	}
	best, ended := -1, false
	matches := make([]bool, len(known))
	sum, length := sha256.New(), int64(0)
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
		if err := refuseOlderCopy(known, matches, length); err != nil {
			return position{}, err
		}
	}
	if best >= 0 && known[best].Length == length {
		in.forget()
		return position{base: known[best], sum: sum}, nil
	}
	if err := in.rewind(); err != nil {
		return position{}, err
	}
	sum = sha256.New()
	if best < 0 {
		return position{sum: sum, fresh: true}, nil
	}
	_, err = copyContext(ctx, sum, in, known[best].Length)
	return position{base: known[best], sum: sum}, err
}

// refuseOlderCopy returns an error if the input, which has ended after length bytes, may be the beginning of a longer
// source: the two are equal at every length at which the ledger has a sum. The bytes between two such lengths cannot be
// compared, and if they are equal too, importing the input would count its lines twice.
func refuseOlderCopy(known []Entry, matches []bool, length int64) error {
	differs := map[string]bool{}
	for i, e := range known {
		if e.Length <= length && !matches[i] {
			differs[e.Source] = true
		}
	}
	for _, e := range slices.Backward(known) {
		if e.Length > length && !differs[e.Source] {
			return olderCopy(length, e)
		}
	}
	return nil
}

// HasBeginning reports whether a log begins with all of another log. Each of them may be compressed.
func HasBeginning(ctx context.Context, log, beginning io.Reader) (same bool, err error) {
	long, err := openInput(log)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, long.Close()) }()
	short, err := openInput(beginning)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, short.Close()) }()
	want, got := make([]byte, headBytes), make([]byte, headBytes)
	for {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		n, err := io.ReadFull(short, want)
		ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !ended {
			return false, fmt.Errorf("read: %w", err)
		}
		m, err := io.ReadFull(long, got[:n])
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return false, fmt.Errorf("read: %w", err)
		}
		if m < n || !bytes.Equal(want[:n], got[:n]) {
			return false, nil
		}
		if ended {
			return true, nil
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

// sourceID returns the id of a new source with this head. Further sources with the same head get a number. They are of
// the same family, so no other import can use the id before this import is committed.
func sourceID(ctx context.Context, ledger Ledger, head []byte) (string, error) {
	sum := sha256.Sum256(head)
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
