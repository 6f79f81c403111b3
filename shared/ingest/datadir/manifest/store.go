// Package manifest tells which objects of a lake directory hold the data at this moment: one small file per hour,
// and one head that says which state of them all is valid.
//
// Every change, however many hours it touches, becomes visible at one instant: the rename of the head. A reader
// therefore sees an import whole or not at all, and sees a compacted hour either before or after. Readers take no
// lock; one read of the head tells them that nothing has changed.
package manifest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
)

// Store is the index of one lake directory. It implements engine.Index and may be used by many goroutines and,
// over the same directory, by many processes.
type Store struct {
	// OnStep, when set, is called before each step of a change that a crash could separate from the next one,
	// with the step's name. Tests end the process there.
	OnStep func(step string)

	dir string

	mu    sync.Mutex
	raw   []byte // the head as it was last read
	head  head
	known []lake.Partition                 // hours that have a manifest, ascending
	hours map[lake.Partition][]lake.Object // objects of the hours read so far, as they are at head
}

var _ engine.Index = (*Store)(nil)

// Open opens the index of the lake in dir, which need not exist yet: then it is empty until something is published.
// A head that cannot be read is an error.
func Open(dir string) (*Store, error) {
	s := &Store{dir: dir, hours: map[lake.Partition][]lake.Object{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(); err != nil {
		return nil, err
	}
	return s, nil
}

// Path is where the object of a name lies.
func (s *Store) Path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

// Objects lists the objects of the partitions from…to, both included, by partition and path, as they were at one
// instant of the call.
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

// Extent is the time all objects together cover.
func (s *Store) Extent(context.Context) (lake.Extent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(); err != nil {
		return lake.Extent{}, err
	}
	return s.head.Extent, nil
}

// Hours lists the partitions that have a manifest, ascending.
func (s *Store) Hours(context.Context) ([]lake.Partition, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(); err != nil {
		return nil, err
	}
	return slices.Clone(s.known), nil
}

// refresh reads the head and forgets the hours that have changed since it was last read.
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
	changed, told := next.changedSince(s.head.Sequence)
	if s.raw == nil || !told {
		clear(s.hours)
		if s.known, err = listHours(s.dir); err != nil {
			return err
		}
		if next.Sequence == 0 && len(s.known) > 0 {
			return fmt.Errorf("manifest %s is missing, though there are manifests of hours", headPath(s.dir))
		}
	}
	for _, p := range changed {
		delete(s.hours, p)
		s.learn(p)
	}
	for _, h := range next.Pending {
		p, err := h.partition()
		if err != nil {
			return fmt.Errorf("manifest %s: %w", headPath(s.dir), err)
		}
		s.learn(p)
		s.hours[p] = s.objectsOf(p, h)
	}
	s.head, s.raw = next, raw
	return nil
}

func (s *Store) learn(p lake.Partition) {
	if i, found := slices.BinarySearch(s.known, p); !found {
		s.known = slices.Insert(s.known, i, p)
	}
}

// collect gathers the objects of from…to. It says current=false when an hour turned out to be newer than the
// head read before: somebody published meanwhile.
func (s *Store) collect(from, to lake.Partition) (objects []lake.Object, current bool, err error) {
	first, _ := slices.BinarySearch(s.known, from)
	for _, p := range s.known[first:] {
		if p > to {
			break
		}
		cached, ok := s.hours[p]
		if !ok {
			h, err := readHour(s.dir, p)
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

// objectsOf gives the objects of an hour as readers want them: by path, and where to read them.
func (s *Store) objectsOf(p lake.Partition, h hour) []lake.Object {
	objects := make([]lake.Object, len(h.Objects))
	for i, o := range h.Objects {
		objects[i] = o.object(p)
		objects[i].Path = s.Path(o.Name)
	}
	slices.SortFunc(objects, byPath)
	return objects
}

// step tells the test that watches that a step is about to be taken.
func (s *Store) step(name string) {
	if s.OnStep != nil {
		s.OnStep(name)
	}
}

// makeDirs makes the directories that publishing needs.
func (s *Store) makeDirs() error {
	if err := os.MkdirAll(hoursDir(s.dir), 0o755); err != nil {
		return fmt.Errorf("make directory of manifests: %w", err)
	}
	return nil
}
