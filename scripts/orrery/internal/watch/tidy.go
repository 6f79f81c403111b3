package watch

import (
	"context"
	"log/slog"
	"time"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/shared/ingest/datadir"
	"github.com/orrery/orrery/shared/ingest/source"
)

const (
	tidyEvery   = 10 * time.Minute // how often a server tidies up
	manyObjects = 8                // the number of objects from which on an hour is compacted
)

// Tidier removes hours that are too old, compacts hours with many objects, and rolls up days. It logs errors, because
// they must not stop the server; the next run tries again.
type Tidier struct {
	product *local.Product
	keep    *time.Duration // how long records are kept; nil: nothing is removed
	log     *slog.Logger
	asked   bool // the log has what must be confirmed
}

// NewTidier returns a Tidier. keep is how long records are kept, 0 for ever; with nil, nothing is removed.
func NewTidier(product *local.Product, keep *time.Duration, logger *slog.Logger) *Tidier {
	return &Tidier{product: product, keep: keep, log: logger}
}

// Loop removes old hours at once, and tidies up every ten minutes until ctx ends.
func (t *Tidier) Loop(ctx context.Context) {
	t.expire(ctx)
	ticker := time.NewTicker(tidyEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		t.run(ctx)
	}
}

func (t *Tidier) run(ctx context.Context) {
	t.expire(ctx)
	report, err := t.product.Store.Compact(ctx, datadir.CompactOptions{MinObjects: manyObjects})
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		t.log.Error("not compacted", "error", err)
	case report.Hours > 0:
		t.log.Info("compacted", "hours", report.Hours, "objects", report.Objects, "records", report.Rows)
	}
	rolledUp, err := t.product.RollUp(ctx, nil)
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		t.log.Error("not rolled up", "error", err)
	case rolledUp.Days+rolledUp.Weeks > 0:
		t.log.Info("rolled up", "days", rolledUp.Days, "weeks", rolledUp.Weeks)
	}
}

// expire removes hours that are too old, and the figures of their records.
func (t *Tidier) expire(ctx context.Context) {
	if t.keep == nil {
		return
	}
	r, err := t.product.Expire(ctx, *t.keep, false)
	what := []any{
		"keep", source.FormatKeep(*t.keep), "hours", r.Hours, "records", r.Records, "of", r.Of, "bytes", r.Bytes,
	}
	switch {
	case ctx.Err() != nil:
	case err != nil:
		t.log.Error("old hours not removed", "error", err)
	case r.Unconfirmed && !t.asked:
		t.asked = true
		t.log.Warn("old hours not removed, because they have more than 10 % of the records", append(what,
			"remedy", "to remove them: orrery compact --yes --keep "+source.FormatKeep(*t.keep))...)
	case !r.Unconfirmed && r.Hours > 0:
		t.log.Info("old hours removed", what...)
		if err := t.product.RenewRollups(ctx); err != nil && ctx.Err() == nil {
			t.log.Error("not rolled up", "error", err)
		}
	}
}
