package datadir

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/status"
)

var _ status.Source = (*Store)(nil)

// Status describes the data directory by its index and its ledger. It reads no objects.
func (s *Store) Status(ctx context.Context) (status.Status, error) {
	complete, err := s.CompleteThrough(ctx)
	if err != nil {
		return status.Status{}, err
	}
	objects, err := s.index.Objects(ctx, math.MinInt64, math.MaxInt64)
	if err != nil {
		return status.Status{}, err
	}
	found := status.Status{Complete: complete, Hours: newestHours(objects)}
	retention, err := s.index.Retention(ctx)
	if err != nil {
		return status.Status{}, err
	}
	if retention.Keep > 0 {
		found.Kept = &status.Retention{Keep: retention.Keep, From: time.UnixMilli(retention.From.Start()).UTC()}
	}
	number, bytes := len(objects), int64(0)
	for _, o := range objects {
		found.Extent = found.Extent.Union(o.Extent())
		bytes += o.Bytes
	}
	records := found.Extent.Rows
	found.Records, found.Objects, found.Bytes = &records, &number, &bytes
	found.Ingest, err = s.imports(ctx)
	return found, err
}

// newestHours describes the newest hours of objects, which are in the order of their hours.
func newestHours(objects []lake.Object) []status.Hour {
	hours := []status.Hour{}
	for _, o := range slices.Backward(objects) {
		if n := len(hours); n == 0 || hours[n-1].Partition != o.Partition {
			if n > 0 && hours[0].Partition-o.Partition >= status.NewestHours {
				break
			}
			hours = append(hours, status.Hour{Partition: o.Partition, Records: new(int64)})
		}
		h := &hours[len(hours)-1]
		h.Objects++
		h.Bytes += o.Bytes
		*h.Records += o.Rows
		h.Compacted = h.Objects == 1
	}
	return hours
}

// imports describes the imports, or returns nil if the ledger cannot be opened because of a full disk, or without
// writing.
func (s *Store) imports(ctx context.Context) (*status.Ingest, error) {
	l, err := s.readLedger(ctx)
	if preventsWriting(err) || err == nil && l == nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	sum, err := l.Summary(ctx)
	if err != nil {
		return nil, err
	}
	found := &status.Ingest{LastSource: sum.Latest.Name, LastAt: sum.Latest.At, Rejected: &sum.Rejected}
	s.mu.Lock()
	found.Watching = s.watching
	s.mu.Unlock()
	if sum.Rejecting.Source == "" {
		return found, nil
	}
	code, err := ingest.NewestCode(s.quarantinePath(sum.Rejecting.Source, sum.Rejecting.Generation))
	switch {
	case err == nil:
		found.Code = string(code)
	case !errors.Is(err, fs.ErrNotExist): // a file that was removed, by age or by an operator, is no fault
		found.Unreadable = sum.Rejecting.Name
	}
	return found, nil
}
