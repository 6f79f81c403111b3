package rollingup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/engine/scan/scanblob"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/rollup"
	"github.com/orrery/orrery/shared/rollup/rollupfile"
)

const (
	// copies is the number of rollups of earlier days that are read at the same time.
	copies = 16
	// mostCopied is the most bytes of these that are in memory.
	mostCopied = 64 << 20
	// fewTallies is the length of a list of tallies that is not read: the rollup of a later day has figures of as many
	// keys anyway.
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
	found := scan.NewRollups(folder)
	ranges, ok := w.Lake.(blob.Ranges)
	if !ok {
		return found, nil
	}
	type copied struct {
		start int64 // of its day
		path  string
	}
	var infos []blob.Info
	var all []copied
	for of := day - scan.DaysBefore; of < day; of++ {
		stored, start := w.rolledUp[of], of.First().Start()/1000
		if stored.Info.Size == 0 {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(folder.PathOf(start, "")), 0o700); err != nil {
			return nil, fmt.Errorf("make scratch directory: %w", err)
		}
		infos, all = append(infos, stored.Info), append(all, copied{start, folder.Path(start, rollup.Subset{})})
		for id, info := range stored.Subsets {
			infos, all = append(infos, info), append(all, copied{start, folder.PathOf(start, id)})
		}
	}
	source := scanblob.New(ctx, ranges, infos, mostCopied, scanblob.Patience)
	defer source.Close()
	copying, ctx := errgroup.WithContext(ctx)
	copying.SetLimit(copies)
	for i, to := range all {
		copying.Go(func() error {
			if in, err := source.Open(infos[i].Name); err == nil {
				_ = copyTallies(in, to.start, to.path) // a file that is not complete is not used
				source.Release(infos[i].Name)
			}
			return context.Cause(ctx)
		})
	}
	return found, copying.Wait()
}

// copyTallies copies the figures and the long lists of tallies of the rollup of a day to a file, at the same offsets.
func copyTallies(in scan.Input, start int64, path string) (err error) {
	if err := in.Expect([]parquet.Part{{Length: min(scan.RollupHead, in.Size())}}); err != nil {
		return err
	}
	day, err := rollup.Read(in, start)
	if err != nil {
		return err
	}
	parts := []parquet.Part{{Length: int64(day.Bytes)}}
	for _, of := range query.TopXParts {
		if s, has := day.Section(rollup.TalliesName(of.Column)); has && s.Length > fewTallies {
			parts = append(parts, parquet.Part{Offset: int64(day.Bytes) + s.Offset, Length: s.Length})
		}
	}
	if err := in.Expect(parts); err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	for _, p := range parts {
		part := io.NewSectionReader(in, p.Offset, p.Length)
		if _, err := io.Copy(io.NewOffsetWriter(file, p.Offset), part); err != nil {
			return err
		}
	}
	return nil
}
