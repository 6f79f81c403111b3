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

// The marks of a slot are the partition ingest#marks#<slot> of the table. It has an item source#<id>#<generation> for
// each import with marks there. The table removes the items when logs from that time would be too old.

const (
	// marksKept is how long marks are kept: as long as logs from which records come continuously are imported.
	marksKept = ingest.DefaultHorizon
	// marksTogether is the number of slots that are written in one transaction. It keeps the transaction under 4 MB.
	marksTogether = 10

	// marksRead is the maximum length in bytes of the items that an import reads. Of 100 million records a day, all marks
	// of five minutes are a quarter of a megabyte.
	marksRead = 4 << 20

	marksPrefix = "source#"
	marksEnd    = "source$" // sorts after all keys with the prefix
)

// errManyMarks means that an import would have to read more marks than marksRead.
var errManyMarks = errors.New("there are too many records of the same time to compare them all")

// markItem has the marks of an import in a slot, each in eight bytes.
type markItem struct {
	Marks []byte `json:"marks"`
}

func marksPartition(slot ingest.MarkSlot) string { return fmt.Sprintf("ingest#marks#%d", slot) }

// marked implements ingest.LookUpMarks. It holds one item in memory at a time.
func (c *Store) marked(
	ctx context.Context, source string, slots []ingest.MarkSlot, marks []ingest.Mark,
) (map[string][]ingest.Mark, error) {
	wanted := map[ingest.Mark]bool{}
	for _, mark := range marks {
		wanted[mark] = true
	}
	found, read := map[string][]ingest.Mark{}, 0
	for _, slot := range slots {
		for item, err := range c.table.Between(ctx, marksPartition(slot), marksPrefix, marksEnd) {
			if err != nil {
				return found, fmt.Errorf("read marks: %w", err)
			}
			if read += len(item.Body); read > marksRead {
				return found, errManyMarks
			}
			of, _, _ := strings.Cut(strings.TrimPrefix(item.Key.Sort, marksPrefix), "#")
			if of == source {
				continue // an earlier version has written the marks of an import that it did not commit
			}
			var marks markItem
			if err := item.Read(&marks); err != nil {
				return found, err
			}
			for ; len(marks.Marks) >= 8; marks.Marks = marks.Marks[8:] {
				if mark := ingest.Mark(binary.BigEndian.Uint64(marks.Marks)); wanted[mark] {
					found[of] = append(found[of], mark)
				}
			}
		}
	}
	return found, nil
}

// putMarks stores the marks of an import that is committed. If the process dies before, the records of the import are not
// noticed in later logs.
func (c *Store) putMarks(ctx context.Context, e ingest.Entry, marks map[ingest.MarkSlot][]ingest.Mark) error {
	expires := c.config.Now().Add(marksKept)
	var changes []lakestate.Change
	for _, slot := range slices.Sorted(maps.Keys(marks)) {
		item := lakestate.Item{Key: lakestate.Key{
			Partition: marksPartition(slot), Sort: fmt.Sprintf("%s%s#%d", marksPrefix, e.Source, e.Generation),
		}}
		var m markItem
		for _, mark := range marks[slot] {
			m.Marks = binary.BigEndian.AppendUint64(m.Marks, uint64(mark))
		}
		change, err := lakestate.ChangeOf(item, m)
		if err != nil {
			return err
		}
		change.Expires = expires
		changes = append(changes, change)
	}
	for together := range slices.Chunk(changes, marksTogether) {
		err := c.table.Write(ctx, together...)
		if errors.Is(err, lakestate.ErrConflict) {
			err = c.replaceMarks(ctx, together)
		}
		if err != nil {
			return fmt.Errorf("write marks: %w", err)
		}
	}
	return nil
}

// replaceMarks replaces the marks that an earlier version wrote for an attempt that was not committed. If two attempts do
// so at the same time, the marks of one of them stay: those of the same records.
func (c *Store) replaceMarks(ctx context.Context, changes []lakestate.Change) error {
	for _, change := range changes {
		item, err := c.table.Get(ctx, change.Key)
		if err != nil {
			return err
		}
		change.Seen = item.Revision
		if err := c.table.Write(ctx, change); err != nil && !errors.Is(err, lakestate.ErrConflict) {
			return err
		}
	}
	return nil
}
