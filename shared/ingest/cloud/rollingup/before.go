package rollingup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/rollup"
	"github.com/orrery/orrery/shared/rollup/rollupfile"
)

const (
	// reads is the number of rollups of earlier days that are read at the same time.
	reads = 16
	// headBytes is the length of the start of a rollup that is read at first. Its figures are seldom longer.
	headBytes = 64 << 10
	// fewTallies is the length of a list of tallies that is not read, because the rollup of a later day has figures of as
	// many keys anyway.
	fewTallies = 1 << 10
)

// earlier returns rollups that tell how often keys were blocked in the days before a day. It copies only this part of
// them to a folder. What cannot be read is left out, because no answer depends on it.
func (w *work) earlier(ctx context.Context, day lake.Day, dir string) (*scan.Rollups, error) {
	folder := rollupfile.Folder(filepath.Join(dir, "earlier"))
	if err := os.MkdirAll(string(folder), 0o700); err != nil {
		return nil, fmt.Errorf("make scratch directory: %w", err)
	}
	if err := os.WriteFile(folder.HashKeyPath(), w.key[:], 0o600); err != nil {
		return nil, fmt.Errorf("copy the key of rollups: %w", err)
	}
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(reads)
	for of := day - scan.DaysBefore; of < day; of++ {
		stored := w.rolledUp[of]
		if stored.Info.Size == 0 {
			continue
		}
		start := of.First().Start() / 1000
		if err := os.MkdirAll(filepath.Dir(folder.PathOf(start, "subset")), 0o700); err != nil {
			return nil, errors.Join(fmt.Errorf("make scratch directory: %w", err), all.Wait())
		}
		all.Go(func() error { return w.copyTallies(ctx, stored.Info, start, folder.Path(start, rollup.Subset{})) })
		for id, info := range stored.Subsets {
			all.Go(func() error { return w.copyTallies(ctx, info, start, folder.PathOf(start, id)) })
		}
	}
	if err := all.Wait(); err != nil {
		return nil, err
	}
	return scan.NewRollups(folder), nil
}

// copyTallies copies the figures and the long lists of tallies of the rollup of a day to a file, at the same offsets.
// The error is that of ctx, or of the file.
func (w *work) copyTallies(ctx context.Context, info blob.Info, start int64, path string) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("make a scratch file: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	head := w.rangeOf(ctx, info, 0, min(headBytes, info.Size))
	if size, err := rollup.Size(head); err == nil && size > len(head) {
		head = w.rangeOf(ctx, info, 0, min(int64(size), info.Size))
	}
	day, err := rollup.Read(bytes.NewReader(head), start)
	if err != nil {
		return context.Cause(ctx) // without its head, the file is no rollup
	}
	if _, err := file.WriteAt(head[:day.Bytes], 0); err != nil {
		return fmt.Errorf("write a scratch file: %w", err)
	}
	for _, part := range query.TopXParts {
		tallies, found := day.Section(rollup.TalliesName(part.Column))
		if !found || tallies.Length <= fewTallies {
			continue
		}
		at := int64(day.Bytes) + tallies.Offset
		if _, err := file.WriteAt(w.rangeOf(ctx, info, at, tallies.Length), at); err != nil {
			return fmt.Errorf("write a scratch file: %w", err)
		}
	}
	return context.Cause(ctx)
}

// rangeOf reads a part of a rollup, or nothing if it cannot be read.
func (w *work) rangeOf(ctx context.Context, info blob.Info, offset, length int64) []byte {
	lake, ok := w.Lake.(blob.Ranges)
	if !ok {
		return nil
	}
	body, err := lake.GetRange(ctx, info.Name, info.ETag, offset, length)
	if err != nil {
		return nil
	}
	defer func() { _ = body.Close() }()
	content := make([]byte, length)
	if _, err := io.ReadFull(body, content); err != nil {
		return nil
	}
	return content
}
