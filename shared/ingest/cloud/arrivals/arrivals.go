// Package arrivals records which raw logs have arrived, and finds those that were lost on their way.
package arrivals

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/lakestate"
)

// partition is the partition of the table that has an item for every raw log which has arrived: which was imported to
// its end, or refused. The sort key is the key of the log, so that the items have the order of a listing.
const partition = "arrived"

func arrivalKey(log string) lakestate.Key { return lakestate.Key{Partition: partition, Sort: log} }

// arrival is the item of a raw log. It describes the object as a listing of the bucket does.
type arrival struct {
	ETag string    `json:"etag"`
	Size int64     `json:"size"`
	Put  time.Time `json:"put"` // by the clock of the bucket
	// Sent is set if the log has not arrived, and was sent again although it may have been imported by a version that
	// recorded no arrivals.
	Sent time.Time `json:"sent,omitzero"`
}

func arrivalOf(raw blob.Info) arrival {
	return arrival{ETag: raw.ETag, Size: raw.Size, Put: raw.Modified.UTC().Truncate(time.Second)}
}

// isOf reports whether the item is of the content that is in the bucket now, or of one that was put after it, which has
// replaced it since it was listed.
func (a arrival) isOf(raw blob.Info) bool {
	now := arrivalOf(raw)
	return a.ETag == now.ETag && a.Size == now.Size || a.Put.After(now.Put)
}

// Record records that a raw log has arrived, unless the log has been replaced and the later content has arrived
// already. pause waits after a conflict, with its number.
func Record(
	ctx context.Context, table lakestate.Table, raw blob.Info, pause func(ctx context.Context, n int) error,
) error {
	for conflicts := 0; ; conflicts++ {
		known, item, err := lakestate.Get[arrival](ctx, table, arrivalKey(raw.Name))
		if err != nil {
			return err
		}
		if item.Revision > 0 && known.Sent.IsZero() && known.isOf(raw) {
			return nil
		}
		err = lakestate.Replace(ctx, table, item, arrivalOf(raw))
		if !errors.Is(err, lakestate.ErrConflict) || conflicts == lakestate.MaxConflicts {
			return err
		}
		if err := pause(ctx, conflicts); err != nil {
			return fmt.Errorf("wait for another import of the log: %w", err)
		}
	}
}
