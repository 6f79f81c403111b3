package publication

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/ingest/cloud/bucket"
	"github.com/orrery/orrery/shared/lakestate"
)

// Settle publishes the open imports that match. Several processes may do so at the same time, and one may complete the
// work of a process that died: every step may be repeated.
func (p *Publisher) Settle(ctx context.Context, match func(lakestate.OpenImport) bool) error {
	s, _, err := lakestate.Load(ctx, p.Table)
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(s.Open)) {
		if o := s.Open[id]; match(o) {
			if err := p.publish(ctx, id, o); err != nil {
				return fmt.Errorf("publish import %s: %w", id, err)
			}
		}
	}
	return nil
}

// publish copies the objects of an import to the prefixes of the readers, and then removes it from the open imports.
func (p *Publisher) publish(ctx context.Context, id string, o lakestate.OpenImport) error {
	staged, err := p.copyStaged(ctx, o)
	if errors.Is(err, blob.ErrNotFound) {
		// Either another process has published the import and removed the staged objects, or they are lost.
		s, _, lookup := lakestate.Load(ctx, p.Table)
		if _, open := s.Open[id]; lookup == nil && !open {
			return nil
		}
		return errors.Join(err, lookup)
	}
	if err != nil {
		return err
	}
	fresh := staged.Columns.Newest(o.Boundary)
	var count func(lakestate.State) (lakestate.Change, error)
	if len(fresh) > 0 {
		count = func(s lakestate.State) (lakestate.Change, error) {
			return lakestate.AddFresh(ctx, p.Table, s.Watermark, fresh)
		}
	}
	s, err := lakestate.Update(ctx, p.Table, func(s *lakestate.State) bool {
		if _, open := s.Open[id]; !open || o.Late > s.Watermark {
			return false
		}
		delete(s.Open, id)
		s.Changed(staged.days()...)
		rows := s.Extent.Rows
		s.Extent = s.Extent.Union(o.Extent)
		if o.Rebuilds != "" {
			s.MarkRebuilt(o.Rebuilds, p.Now())
			if rows > 0 {
				s.Extent.Rows = rows // the import has counted them
			}
		}
		return true
	}, count, p.Wait)
	if err != nil {
		return err
	}
	if _, open := s.Open[id]; open {
		return nil // its late hours are being compacted; the compaction will settle it
	}
	return p.removeStaged(ctx, o.Attempt)
}

// copyStaged copies every staged object to its final name, unless it exists there, and then the lists of values. It
// returns the list of the staged objects.
func (p *Publisher) copyStaged(ctx context.Context, o lakestate.OpenImport) (stagingIndex, error) {
	staged := &Area{publisher: p, Attempt: o.Attempt}
	if err := staged.load(ctx); err != nil {
		return stagingIndex{}, err
	}
	group, working := errgroup.WithContext(ctx)
	group.SetLimit(p.Copies)
	for _, object := range staged.list.Objects {
		group.Go(func() error {
			to := object.finalName(o.Boundary)
			if err := p.Lake.CopyTo(working, staged.name(object.Staged), to); err != nil {
				return err
			}
			err := p.Lake.Verify(working, to, object.Bytes, object.Sum)
			if errors.Is(err, bucket.ErrDiffers) {
				return p.repair(working, staged.name(object.Staged), to, object)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return stagingIndex{}, err
	}
	if name := staged.list.Quarantine; name != "" {
		if err := p.Lake.CopyTo(ctx, staged.name(stagingQuarantineFile), name); err != nil {
			return stagingIndex{}, err
		}
	}
	p.copyStagedLists(ctx, staged, o.Boundary)
	return staged.list, nil
}

// repair replaces the content of an object that was damaged before its import was published completely. Without that,
// the import could never be published, and compaction would wait for it.
func (p *Publisher) repair(ctx context.Context, staged, name string, object stagedObject) (err error) {
	dir, err := os.MkdirTemp(p.Scratch, "repair-")
	if err != nil {
		return fmt.Errorf("make scratch directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "object.parquet")
	if err := p.Lake.Download(ctx, staged, file); err != nil {
		return err
	}
	sum, err := bucket.FileSum(file)
	if err != nil {
		return err
	}
	if sum != object.Sum {
		return fmt.Errorf("repair %s from %s, which has the SHA-256 %s: %w", name, staged, sum, bucket.ErrDiffers)
	}
	return p.Lake.PutAgain(ctx, name, file, object.Bytes, object.Sum)
}

// load reads the list of the staged objects of an attempt.
func (s *Area) load(ctx context.Context) error {
	return s.publisher.Lake.ReadJSON(ctx, s.name(stagingIndexFile), &s.list)
}
