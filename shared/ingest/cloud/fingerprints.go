package cloud

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/lakestate"
)

// The fingerprints of a slot are the partition ingest#marks#<slot> of the table. It has an item
// source#<id>#<generation> for each import with fingerprints there. The table removes the items when logs from that
// time would be too old.

const (
	// fingerprintsKept is how long fingerprints are kept: as long as logs from which records come continuously are
	// imported.
	fingerprintsKept = ingest.DefaultHorizon
	// fingerprintsTogether is the number of slots that are written in one transaction. It keeps the transaction under 4
	// MB.
	fingerprintsTogether = 10

	// fingerprintsRead is the maximum length in bytes of the items that an import reads. Of 100 million records a day,
	// all fingerprints of five minutes are a quarter of a megabyte.
	fingerprintsRead = 4 << 20

	fingerprintsPrefix = "source#"
	fingerprintsEnd    = "source$" // sorts after all keys with the prefix
)

// errManyFingerprints means that an import would have to read more fingerprints than fingerprintsRead.
var errManyFingerprints = errors.New("there are too many records of the same time to compare them all")

// fingerprintItem has the fingerprints of an import in a slot, each in eight bytes.
type fingerprintItem struct {
	Fingerprints []byte `json:"marks"`
}

func fingerprintsPartition(slot ingest.FingerprintSlot) string {
	return fmt.Sprintf("ingest#marks#%d", slot)
}

// lookUpFingerprints implements ingest.FingerprintLookup. It holds one item in memory at a time.
func (c *Store) lookUpFingerprints(
	ctx context.Context, source string, slots []ingest.FingerprintSlot, fingerprints []ingest.Fingerprint,
) (map[string][]ingest.Fingerprint, error) {
	wanted := map[ingest.Fingerprint]bool{}
	for _, fingerprint := range fingerprints {
		wanted[fingerprint] = true
	}
	found, read := map[string][]ingest.Fingerprint{}, 0
	for _, slot := range slots {
		for item, err := range c.Table.Between(ctx, fingerprintsPartition(slot), fingerprintsPrefix, fingerprintsEnd) {
			if err != nil {
				return found, fmt.Errorf("read fingerprints: %w", err)
			}
			if read += len(item.Body); read > fingerprintsRead {
				return found, errManyFingerprints
			}
			of, _, _ := strings.Cut(strings.TrimPrefix(item.Key.Sort, fingerprintsPrefix), "#")
			if of == source {
				continue // an earlier version has written the fingerprints of an import that it did not commit
			}
			var fingerprints fingerprintItem
			if err := item.Read(&fingerprints); err != nil {
				return found, err
			}
			for ; len(fingerprints.Fingerprints) >= 8; fingerprints.Fingerprints = fingerprints.Fingerprints[8:] {
				fingerprint := ingest.Fingerprint(binary.BigEndian.Uint64(fingerprints.Fingerprints))
				if wanted[fingerprint] {
					found[of] = append(found[of], fingerprint)
				}
			}
		}
	}
	return found, nil
}

// putFingerprints stores the fingerprints of an import that is committed. If the process dies before, the records of
// the import are not noticed in later logs.
func (c *Store) putFingerprints(
	ctx context.Context, e ingest.Entry, fingerprints map[ingest.FingerprintSlot][]ingest.Fingerprint,
) error {
	expires := c.Now().Add(fingerprintsKept)
	var changes []lakestate.Change
	for _, slot := range slices.Sorted(maps.Keys(fingerprints)) {
		item := lakestate.Item{Key: lakestate.Key{
			Partition: fingerprintsPartition(slot),
			Sort:      fmt.Sprintf("%s%s#%d", fingerprintsPrefix, e.Source, e.Generation),
		}}
		var m fingerprintItem
		for _, fingerprint := range fingerprints[slot] {
			m.Fingerprints = binary.BigEndian.AppendUint64(m.Fingerprints, uint64(fingerprint))
		}
		change, err := lakestate.ChangeOf(item, m)
		if err != nil {
			return err
		}
		change.Expires = expires
		changes = append(changes, change)
	}
	for together := range slices.Chunk(changes, fingerprintsTogether) {
		err := c.Table.Write(ctx, together...)
		if errors.Is(err, lakestate.ErrConflict) {
			err = c.replaceFingerprints(ctx, together)
		}
		if err != nil {
			return fmt.Errorf("write fingerprints: %w", err)
		}
	}
	return nil
}

// replaceFingerprints replaces the fingerprints that an earlier version wrote for an attempt that was not committed. If
// two attempts do so at the same time, the fingerprints of one of them stay; both are of the same records.
func (c *Store) replaceFingerprints(ctx context.Context, changes []lakestate.Change) error {
	for _, change := range changes {
		item, err := c.Table.Get(ctx, change.Key)
		if err != nil {
			return err
		}
		change.Seen = item.Revision
		if err := c.Table.Write(ctx, change); err != nil && !errors.Is(err, lakestate.ErrConflict) {
			return err
		}
	}
	return nil
}
