package enginetest

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/lake/parquet/parquettest"
)

// Store has objects in a folder and an index of them, for engines that read Parquet.
type Store struct {
	Dir string

	mu      sync.Mutex
	objects []lake.Object
}

var _ engine.Index = (*Store)(nil)

// NewStore writes rows as the importer does: sorted and verified, in one object per hour and source.
func NewStore(t testing.TB, rows []lake.Row) *Store {
	t.Helper()
	s := &Store{Dir: t.TempDir()}
	s.Fill(t, rows, math.MinInt64)
	return s
}

// Fill adds rows. It writes the hours before the watermark as the compactor does, in one object per hour, and the
// others as the importer does, in one object per hour and source.
func (s *Store) Fill(t testing.TB, rows []lake.Row, watermark lake.Partition) {
	t.Helper()
	type objectKey struct {
		partition lake.Partition
		source    string // "" for compacted hours
	}
	parts := map[objectKey][]lake.Row{}
	for _, r := range rows {
		p := objectKey{lake.PartitionOf(r.TsMs), r.Source}
		if p.partition < watermark {
			p.source = ""
		}
		parts[p] = append(parts[p], r)
	}
	for p, rows := range parts {
		parquettest.Sort(rows)
		name := lake.ObjectName(p.partition, p.source, 0)
		if p.partition < watermark {
			name = lake.CompactName(p.partition, "compacted")
		}
		s.Add(t, name, rows)
	}
}

// StoreOf returns a store of objects that a folder contains already.
func StoreOf(dir string, objects []lake.Object) *Store { return &Store{Dir: dir, objects: objects} }

// Add writes one object with rows of one partition, which must be sorted.
func (s *Store) Add(t testing.TB, name string, rows []lake.Row) lake.Object {
	t.Helper()
	path := filepath.Join(s.Dir, filepath.FromSlash(name))
	o, err := write(path, rows)
	if err != nil {
		t.Fatalf("write object %s: %v", name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects = append(s.objects, o)
	slices.SortFunc(s.objects, func(a, b lake.Object) int {
		if a.Partition != b.Partition {
			return int(a.Partition - b.Partition)
		}
		return strings.Compare(a.Path, b.Path)
	})
	return o
}

// Replace replaces an object in the index by another one, as compaction does.
func (s *Store) Replace(path string, by lake.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, o := range s.objects {
		if o.Path == path {
			s.objects[i] = by
		}
	}
}

// Objects implements engine.Index.
func (s *Store) Objects(_ context.Context, from, to lake.Partition) ([]lake.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var in []lake.Object
	for _, o := range s.objects {
		if from <= o.Partition && o.Partition <= to {
			in = append(in, o)
		}
	}
	return in, nil
}

// Extent implements engine.Index.
func (s *Store) Extent(context.Context) (lake.Extent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var e lake.Extent
	for _, o := range s.objects {
		e = e.Union(o.Extent())
	}
	return e, nil
}

func write(path string, rows []lake.Row) (lake.Object, error) {
	var content bytes.Buffer
	w := parquet.NewWriter(&content)
	if err := w.Write(rows); err != nil {
		return lake.Object{}, err
	}
	if err := w.Close(); err != nil {
		return lake.Object{}, err
	}
	return writeContent(path, content.Bytes())
}

// writeContent writes an object and verifies it.
func writeContent(path string, content []byte) (lake.Object, error) {
	o, err := parquet.Verify(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return lake.Object{}, fmt.Errorf("verify: %w", err)
	}
	o.Path = path
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return lake.Object{}, err
	}
	return o, os.WriteFile(path, content, 0o644)
}
