// Package manifest is the index of the current objects of a lake directory: one small file per hour, and one head file
// that selects the valid state of them.
//
// Every change, however many hours it affects, becomes visible at one instant: when the head file is renamed. A reader
// therefore sees either all of an import or nothing of it, and an hour either before or after its compaction. Readers
// take no lock. They read the head file to see whether anything has changed.
package manifest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
)

// Store is the index of one lake directory. It implements engine.Index. Many goroutines may use a Store, and many
// processes may use Stores over the same directory.
type Store struct {
	// OnStep, if set, is called with the name of each step of a change that a crash can separate from the next one,
	// before the step. Tests end the process there.
	OnStep func(step string)

	dir string

	mu        sync.Mutex
	raw       []byte // content of the head file when it was last read
	head      head
	retention Retention                        // of head
	known     []lake.Partition                 // hours that have a manifest, in ascending order
	hours     map[lake.Partition][]lake.Object // cached objects of hours, as of head
}

var _ engine.NumberedIndex = (*Store)(nil)

// Open opens the index of the lake in dir. The index is empty if dir does not exist. A head file that cannot be read is
// an error.
func Open(dir string) (*Store, error) {
	s := &Store{dir: dir, hours: map[lake.Partition][]lake.Object{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(); err != nil {
		return nil, err
	}
	return s, nil
}

// Path returns the file of the object with that name.
func (s *Store) Path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

// Objects returns the objects of the partitions from…to, including both, in the order of partitions and paths. It
// returns their state at one instant during the call.
func (s *Store) Objects(ctx context.Context, from, to lake.Partition) ([]lake.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("list objects: %w", err)
		}
		if err := s.refresh(); err != nil {
			return nil, err
		}
		objects, current, err := s.collect(from, to)
		if err != nil || current {
			return objects, err
		}
	}
}

// Extent returns the time that all objects together cover.
func (s *Store) Extent(context.Context) (lake.Extent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(); err != nil {
		return lake.Extent{}, err
	}
	return s.head.Extent, nil
}

// Sequence returns the number of changes, which is that of the latest one. As long as it stays the same, so does the
// data.
func (s *Store) Sequence(context.Context) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(); err != nil {
		return 0, err
	}
	return s.head.Sequence, nil
}

// Hours returns the partitions that have a manifest, in ascending order.
func (s *Store) Hours(context.Context) ([]lake.Partition, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(); err != nil {
		return nil, err
	}
	return slices.Clone(s.known), nil
}

// refresh reads the head file and discards the cached hours that have changed since the last read.
func (s *Store) refresh() error {
	raw, err := readHead(s.dir)
	if err != nil {
		return err
	}
	if s.raw != nil && bytes.Equal(raw, s.raw) {
		return nil
	}
	next, err := parseHead(s.dir, raw)
	if err != nil {
		return err
	}
	retention, err := next.retention()
	if err != nil {
		return fmt.Errorf("manifest %s: %w", headPath(s.dir), err)
	}
	changed, complete := next.changedSince(s.head.Sequence)
	if s.raw == nil || !complete {
		clear(s.hours)
		if s.known, err = listHours(s.dir); err != nil {
			return err
		}
		if next.Sequence == 0 && len(s.known) > 0 {
			return fmt.Errorf("manifest %s is missing, but there are manifests of hours", headPath(s.dir))
		}
	}
	for _, p := range changed {
		delete(s.hours, p)
		s.addKnown(p)
	}
	for _, h := range next.Pending {
		p, err := h.partition()
		if err != nil {
			return fmt.Errorf("manifest %s: %w", headPath(s.dir), err)
		}
		s.addKnown(p)
		s.hours[p] = s.objectsOf(p, h)
	}
	s.head, s.retention, s.raw = next, retention, raw
	return nil
}

// addKnown adds an hour to the hours that have a manifest.
func (s *Store) addKnown(p lake.Partition) {
	if i, found := slices.BinarySearch(s.known, p); !found {
		s.known = slices.Insert(s.known, i, p)
	}
}

// collect returns the objects of from…to. current is false if an hour is newer than the head that was read: another
// process has published meanwhile.
func (s *Store) collect(from, to lake.Partition) (objects []lake.Object, current bool, err error) {
	first, _ := slices.BinarySearch(s.known, from)
	for _, p := range s.known[first:] {
		if p > to {
			break
		}
		cached, ok := s.hours[p]
		if !ok {
			h, err := readHour(s.dir, p)
			if errors.Is(err, fs.ErrNotExist) && p < s.retention.From {
				continue // it was dropped
			}
			if err != nil {
				return nil, false, err
			}
			if h.Sequence > s.head.Sequence {
				return nil, false, nil
			}
			cached = s.objectsOf(p, h)
			s.hours[p] = cached
		}
		objects = append(objects, cached...)
	}
	return objects, true, nil
}

// objectsOf returns the objects of an hour with the paths of their files, in the order of the paths.
func (s *Store) objectsOf(p lake.Partition, h hourManifest) []lake.Object {
	objects := make([]lake.Object, len(h.Objects))
	for i, o := range h.Objects {
		objects[i] = o.lakeObject(p)
		objects[i].Path = s.Path(o.Name)
	}
	slices.SortFunc(objects, byPath)
	return objects
}

// step calls OnStep.
func (s *Store) step(name string) {
	if s.OnStep != nil {
		s.OnStep(name)
	}
}

// makeDirs creates the directories that publishing needs.
func (s *Store) makeDirs() error {
	if err := os.MkdirAll(hoursDir(s.dir), 0o700); err != nil {
		return fmt.Errorf("make directory of manifests: %w", err)
	}
	return nil
}
