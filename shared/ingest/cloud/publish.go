package cloud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/lakestate"
)

// settle publishes the open imports that match. Several processes may do so at the same time, and one may complete the
// work of a process that died: every step may be repeated.
func (c *Store) settle(ctx context.Context, match func(lakestate.OpenImport) bool) error {
	s, _, err := lakestate.Load(ctx, c.table)
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(s.Open)) {
		if o := s.Open[id]; match(o) {
			if err := c.publish(ctx, id, o); err != nil {
				return fmt.Errorf("publish import %s: %w", id, err)
			}
		}
	}
	return nil
}

// publish copies the objects of an import to the prefixes of the readers, and then removes it from the open imports.
func (c *Store) publish(ctx context.Context, id string, o lakestate.OpenImport) error {
	columns, err := c.copyStaged(ctx, o)
	if errors.Is(err, blob.ErrNotFound) {
		// Either another process has published the import and removed the staged objects, or they are lost.
		s, _, lookup := lakestate.Load(ctx, c.table)
		if _, open := s.Open[id]; lookup == nil && !open {
			return nil
		}
		return errors.Join(err, lookup)
	}
	if err != nil {
		return err
	}
	fresh := columns.Newest(o.Boundary)
	var count func(lakestate.State) (lakestate.Change, error)
	if len(fresh) > 0 {
		count = func(s lakestate.State) (lakestate.Change, error) {
			return lakestate.AddFresh(ctx, c.table, s.Watermark, fresh)
		}
	}
	s, err := lakestate.Update(ctx, c.table, func(s *lakestate.State) bool {
		if _, open := s.Open[id]; !open || o.Late > s.Watermark {
			return false
		}
		delete(s.Open, id)
		s.Version++
		rows := s.Extent.Rows
		s.Extent = s.Extent.Union(o.Extent)
		if o.Rebuilds != "" {
			s.MarkRebuilt(o.Rebuilds, c.config.Now())
			if rows > 0 {
				s.Extent.Rows = rows // the import has counted them
			}
		}
		return true
	}, count, c.pause)
	if err != nil {
		return err
	}
	if _, open := s.Open[id]; open {
		return nil // its late hours are being compacted; the compaction will settle it
	}
	return c.removeStaged(ctx, o.Attempt)
}

// copyStaged copies every staged object to its final name, unless it exists there, and then the lists of values. It
// returns the sizes of the columns of the objects of the newest hours.
func (c *Store) copyStaged(ctx context.Context, o lakestate.OpenImport) (lakestate.ColumnsByHour, error) {
	staged := &stagingArea{cloud: c, attempt: o.Attempt}
	if err := staged.load(ctx); err != nil {
		return nil, err
	}
	group, working := errgroup.WithContext(ctx)
	group.SetLimit(c.config.Copies)
	for _, object := range staged.list.Objects {
		group.Go(func() error {
			to := object.finalName(o.Boundary)
			if err := c.copyTo(working, staged.name(object.Staged), to); err != nil {
				return err
			}
			err := c.verify(working, to, object.Bytes, object.Sum)
			if errors.Is(err, errDiffers) {
				return c.repair(working, staged.name(object.Staged), to, object)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if name := staged.list.Quarantine; name != "" {
		if err := c.copyTo(ctx, staged.name(stagingQuarantineFile), name); err != nil {
			return nil, err
		}
	}
	c.copyStagedLists(ctx, staged, o.Boundary)
	return staged.list.Columns, nil
}

// repair replaces the content of an object that was damaged before its import was published completely. Without that,
// the import could never be published, and compaction would wait for it.
func (c *Store) repair(ctx context.Context, staged, name string, object stagedObject) (err error) {
	dir, err := os.MkdirTemp(c.config.Scratch, "repair-")
	if err != nil {
		return fmt.Errorf("make scratch directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "object.parquet")
	if err := c.download(ctx, staged, file); err != nil {
		return err
	}
	sum, err := fileSum(file)
	if err != nil {
		return err
	}
	if sum != object.Sum {
		return fmt.Errorf("repair %s from %s, which has the SHA-256 %s: %w", name, staged, sum, errDiffers)
	}
	return c.putAgain(ctx, name, file, object.Bytes, object.Sum)
}

// copyTo copies an object. An existing object with the new name is not an error.
func (c *Store) copyTo(ctx context.Context, from, to string) error {
	if err := c.lake.Copy(ctx, from, to); err != nil && !errors.Is(err, blob.ErrExists) {
		return err
	}
	return nil
}

// load reads the list of the staged objects of an attempt.
func (s *stagingArea) load(ctx context.Context) error {
	return s.cloud.readJSON(ctx, s.name(stagingIndexFile), &s.list)
}

func (c *Store) readJSON(ctx context.Context, name string, into any) error {
	text, err := c.contentOf(ctx, name)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}

// contentOf returns the content of an object of the lake's bucket that fits into memory.
func (c *Store) contentOf(ctx context.Context, name string) ([]byte, error) {
	r, err := blob.Open(ctx, c.lake, name, "")
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(r)
	return text, errors.Join(err, r.Close())
}
