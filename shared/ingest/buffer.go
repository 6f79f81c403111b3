package ingest

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/orrery/orrery/shared/lake"
)

const (
	// fatRow is from how many bytes on a row's texts repeat so little that writing it takes about as much memory again,
	// and once more until the garbage is collected; it then counts fatFactor times.
	fatRow    = 16 << 10
	fatFactor = 3
	// staleBatches is after how many batches without a row an hour is taken to be complete: logs are written about in
	// order of time.
	staleBatches = 32
	// fewestPerHour is how many rows an object of a complete hour should have at least when memory forces it out, and
	// fewestPerPart one of an hour that may get more. With fewer the input is in no order of time; its rows wait in
	// sorted runs instead.
	fewestPerHour = 512
	fewestPerPart = 4096
)

// heldRow is a row and the batch whose memory it shares.
type heldRow struct {
	row  *lake.Row
	from *decoded
}

// hourBuffer is the rows of one hour not yet written, in the order read.
type hourBuffer struct {
	rows []heldRow
	cost int64
	last int // number of the latest batch that had a row of it
}

// buffer holds the rows not yet written, by hour.
type buffer struct {
	hours map[lake.Partition]*hourBuffer
	cost  int64
	seen  map[lake.Partition]struct{} // every hour that ever had a row
}

func newBuffer() *buffer {
	return &buffer{hours: map[lake.Partition]*hourBuffer{}, seen: map[lake.Partition]struct{}{}}
}

// add takes the rows of a batch.
func (b *buffer) add(d *decoded) {
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
		if cost > fatRow {
			cost *= fatFactor
		}
		hour.cost += cost
		b.cost += cost
	}
}

// take removes the rows of an hour.
func (b *buffer) take(p lake.Partition) []heldRow {
	hour := b.hours[p]
	delete(b.hours, p)
	b.cost -= hour.cost
	return hour.rows
}

// complete lists the hours that have got no row for a while and are worth an object, ascending.
func (b *buffer) complete(number int) []lake.Partition {
	var list []lake.Partition
	for p, hour := range b.hours {
		if number-hour.last >= staleBatches && len(hour.rows) >= fewestPerHour {
			list = append(list, p)
		}
	}
	slices.Sort(list)
	return list
}

// fullest is the hour with the most rows, the earliest of equals.
func (b *buffer) fullest() (p lake.Partition, rows int) {
	for q, hour := range b.hours {
		if len(hour.rows) > rows || len(hour.rows) == rows && q < p {
			p, rows = q, len(hour.rows)
		}
	}
	return p, rows
}

// partitions lists the hours, ascending.
func (b *buffer) partitions() []lake.Partition { return slices.Sorted(maps.Keys(b.hours)) }

// takeAll removes all rows.
func (b *buffer) takeAll() []heldRow {
	var all []heldRow
	for _, p := range b.partitions() {
		all = append(all, b.take(p)...)
	}
	return all
}

// sorted puts rows in order.
func sorted(rows []heldRow) []heldRow {
	order := func(a, b heldRow) int { return lake.Compare(a.row, b.row) }
	if !slices.IsSortedFunc(rows, order) {
		slices.SortFunc(rows, order)
	}
	return rows
}

// release gives back the memory of rows that have been written.
func release(rows []heldRow) {
	for _, r := range rows {
		if r.from.held.Add(-1) == 0 {
			recycle(r.from)
		}
	}
}

// rowSlices keeps the row slices of batches that have been written.
var rowSlices = sync.Pool{New: func() any { s := make([]lake.Row, 0, 256); return &s }}

func newDecoded() *decoded { return &decoded{rows: (*rowSlices.Get().(*[]lake.Row))[:0]} }

// fit moves rows that are few into a slice of their number: a batch of three records of 90 kB would hold as much again
// in room for others.
func (d *decoded) fit() {
	if len(d.rows) > cap(d.rows)/4 {
		return
	}
	room := d.rows
	d.rows = slices.Clone(room)
	clear(room)
	room = room[:0]
	rowSlices.Put(&room)
}

// recycle clears the rows, so that they keep no texts alive, and keeps the slice.
func recycle(d *decoded) {
	clear(d.rows)
	rows := d.rows[:0]
	d.rows = nil
	rowSlices.Put(&rows)
}

// byName orders objects.
func byName(a, b lake.Object) int { return cmp.Compare(a.Path, b.Path) }
