package ingest

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/orrery/orrery/shared/lake"
)

const (
	// largeRow is the size in bytes from which a row counts largeRowFactor times. The texts of such a row rarely
	// repeat, so writing it takes about as much memory again, and once more until the garbage is collected.
	largeRow       = 16 << 10
	largeRowFactor = 3
	// staleBatches is the number of batches without a row after which an hour is considered complete. Logs are written
	// approximately in the order of time.
	staleBatches = 32
	// minRowsPerHour is the minimum number of rows of an object that is written early because memory is short, if its
	// hour is complete. minRowsPerPart is the minimum if the hour may get more rows. If hours have fewer rows, the
	// input is not in the order of time, and the rows go to sorted runs instead.
	minRowsPerHour = 512
	minRowsPerPart = 4096
)

// heldRow is a row in the buffer and the batch that owns its memory.
type heldRow struct {
	row  *lake.Row
	from *decodedBatch
}

// hourBuffer holds the rows of one hour that are not written yet, in the order of the input.
type hourBuffer struct {
	rows []heldRow
	cost int64
	last int // number of the latest batch with a row of the hour
}

// buffer holds the rows that are not written yet, by hour.
type buffer struct {
	hours map[lake.Partition]*hourBuffer
	cost  int64
	seen  map[lake.Partition]struct{} // every hour of the input so far
}

func newBuffer() *buffer {
	return &buffer{hours: map[lake.Partition]*hourBuffer{}, seen: map[lake.Partition]struct{}{}}
}

// add adds the rows of a batch.
func (b *buffer) add(d *decodedBatch) {
	if len(d.rows) == 0 {
		return
	}
	var hour *hourBuffer
	var p lake.Partition
	for i := range d.rows {
		row := &d.rows[i]
		if here := lake.PartitionOf(row.TsMs); hour == nil || here != p {
			p = here
			if hour = b.hours[p]; hour == nil {
				hour = &hourBuffer{}
				b.hours[p] = hour
				b.seen[p] = struct{}{}
			}
			hour.last = d.number
		}
		hour.rows = append(hour.rows, heldRow{row, d})
		cost := row.Memory()
		if cost > largeRow {
			cost *= largeRowFactor
		}
		hour.cost += cost
		b.cost += cost
	}
}

// take removes the rows of an hour and returns them.
func (b *buffer) take(p lake.Partition) []heldRow {
	hour := b.hours[p]
	delete(b.hours, p)
	b.cost -= hour.cost
	return hour.rows
}

// complete returns the hours that appear to be complete and have enough rows for an object, in ascending order. number
// is the number of the latest batch.
func (b *buffer) complete(number int) []lake.Partition {
	var list []lake.Partition
	for p, hour := range b.hours {
		if number-hour.last >= staleBatches && len(hour.rows) >= minRowsPerHour {
			list = append(list, p)
		}
	}
	slices.Sort(list)
	return list
}

// fullest returns the hour with the most rows, and the earliest of several such hours.
func (b *buffer) fullest() (p lake.Partition, rows int) {
	for q, hour := range b.hours {
		if len(hour.rows) > rows || len(hour.rows) == rows && q < p {
			p, rows = q, len(hour.rows)
		}
	}
	return p, rows
}

// partitions returns the hours in ascending order.
func (b *buffer) partitions() []lake.Partition { return slices.Sorted(maps.Keys(b.hours)) }

// takeAll removes all rows and returns them.
func (b *buffer) takeAll() []heldRow {
	var all []heldRow
	for _, p := range b.partitions() {
		all = append(all, b.take(p)...)
	}
	return all
}

// sorted sorts rows in place and returns them.
func sorted(rows []heldRow) []heldRow {
	order := func(a, b heldRow) int { return lake.Compare(a.row, b.row) }
	if !slices.IsSortedFunc(rows, order) {
		slices.SortFunc(rows, order)
	}
	return rows
}

// release releases the memory of rows that have been written.
func release(rows []heldRow) {
	for _, r := range rows {
		if r.from.held.Add(-1) == 0 {
			recycle(r.from)
		}
	}
}

// rowSlices is a pool of the row slices of batches that have been written.
var rowSlices = sync.Pool{New: func() any { s := make([]lake.Row, 0, 256); return &s }}

func newDecodedBatch() *decodedBatch {
	return &decodedBatch{rows: (*rowSlices.Get().(*[]lake.Row))[:0]}
}

// fit moves the rows into a smaller slice if they use little of theirs. For a batch of three records of 90 kB, the
// unused part of the slice would take as much memory as the records.
func (d *decodedBatch) fit() {
	if len(d.rows) > cap(d.rows)/4 {
		return
	}
	large := d.rows
	d.rows = slices.Clone(large)
	clear(large)
	large = large[:0]
	rowSlices.Put(&large)
}

// recycle returns the slice of rows to the pool. It clears the rows, so that they keep no texts in memory.
func recycle(d *decodedBatch) {
	clear(d.rows)
	rows := d.rows[:0]
	d.rows = nil
	rowSlices.Put(&rows)
}

// byName orders objects by path.
func byName(a, b lake.Object) int { return cmp.Compare(a.Path, b.Path) }
