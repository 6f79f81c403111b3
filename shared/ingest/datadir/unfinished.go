package datadir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir/manifest"
)

// unfinishedAge is the time after which an import that was interrupted begins anew. It is counted from the last
// checkpoint.
const unfinishedAge = 7 * 24 * time.Hour

// saved makes a checkpoint durable.
func (s *Store) saved(staging string) error {
	s.step("import: before a checkpoint is durable")
	for _, dir := range []string{staging, s.stagingRoot(), s.lakeDir()} {
		if err := manifest.SyncDir(dir); err != nil {
			return err
		}
	}
	s.step("import: after a checkpoint")
	return nil
}

// setAside moves a staging directory that has a checkpoint to where the next import of the source finds it, and removes
// any other. The directory need not exist. The caller holds its lock.
func (s *Store) setAside(staging string) error {
	source, err := ingest.UnfinishedIn(staging)
	if err != nil {
		return err
	}
	if source == "" {
		if err := os.RemoveAll(staging); err != nil {
			return fmt.Errorf("remove staging directory: %w", err)
		}
		return nil
	}
	to := filepath.Join(s.unfinishedDir(), source)
	if err := errors.Join(os.MkdirAll(s.unfinishedDir(), 0o700), os.RemoveAll(to)); err != nil {
		return fmt.Errorf("set unfinished import aside: %w", err)
	}
	if err := os.Rename(staging, to); err != nil {
		return fmt.Errorf("set unfinished import aside: %w", err)
	}
	return nil
}

// dropUnfinished removes what an interrupted import of a source has left. The caller holds the lock of its family.
func (s *Store) dropUnfinished(source string) error {
	if err := os.RemoveAll(filepath.Join(s.unfinishedDir(), source)); err != nil {
		return fmt.Errorf("remove unfinished import: %w", err)
	}
	return nil
}

// pruneUnfinished removes what imports have left that were interrupted before unfinishedAge, or before the time that
// records are kept.
func (s *Store) pruneUnfinished(ctx context.Context) error {
	age := unfinishedAge
	keep, err := s.keeping(ctx)
	if err != nil {
		return err
	}
	if keep > 0 {
		age = min(age, keep)
	}
	entries, err := os.ReadDir(s.unfinishedDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("list unfinished imports: %w", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || s.now().Sub(info.ModTime()) < age {
			continue // another process may have removed it
		}
		if err := os.RemoveAll(filepath.Join(s.unfinishedDir(), e.Name())); err != nil {
			return fmt.Errorf("remove unfinished import: %w", err)
		}
	}
	return nil
}
