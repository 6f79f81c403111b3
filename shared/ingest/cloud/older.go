package cloud

import (
	"context"
	"errors"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
)

// olderCopy decides whether a log that looks like an older copy of an imported log is one: the snapshots of a growing
// log may be delivered in any order. It compares the two logs if the longer one is still in the bucket. Otherwise, or
// if they differ, it returns the error refused.
func (c *Store) olderCopy(
	ctx context.Context, log rawlog.Log, of ingest.Entry, refused error,
) (report ingest.Report, err error) {
	longer, err := blob.Open(ctx, c.config.Raw, of.Name, "")
	if errors.Is(err, blob.ErrNotFound) {
		return ingest.Report{}, refused
	}
	if err != nil {
		return ingest.Report{}, err
	}
	defer func() { err = errors.Join(err, longer.Close()) }()
	shorter, err := blob.Open(ctx, c.config.Raw, log.Key, log.Version)
	if err != nil {
		return ingest.Report{}, err
	}
	defer func() { err = errors.Join(err, shorter.Close()) }()
	same, err := ingest.IsOlderCopy(ctx, shorter, longer, of)
	if err == nil && !same {
		err = refused
	}
	return ingest.Report{Name: log.Key, Source: of.Source, Format: of.Format}, err
}
