package ingest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
)

const (
	// overlapRecords is the number of records at the beginning of a new source that are looked for in the lake.
	overlapRecords = 1000
	// overlapLeast is the number of records from which more than half of them are more than chance.
	overlapLeast = 20
	// overlapRows is the maximum number of rows of an object that are compared with them.
	overlapRows = 20_000
	// overlapChunk is the number of rows that are in memory at a time. Their texts may have record.MaxLine bytes each.
	overlapChunk = 64
)

// overlap looks for the first records of a new source in the lake: a part of an imported log, such as its last lines, a
// copy in another folder or an archive, has a beginning of its own, so the ledger does not recognise it.
type overlap struct {
	objects func(hours []lake.Partition) ([]string, error) // nil: nothing is looked for
	first   []earlyRecord
	hours   map[lake.Partition]struct{}
}

// earlyRecord is one of the first records.
type earlyRecord struct {
	TsMs     int64
	Identity recordIdentity
}

// recordIdentity is a hash, because the texts of a record may be long.
type recordIdentity [16]byte

// add adds the records of a batch, and reports whether there are enough.
func (o *overlap) add(rows []lake.Row) (enough bool) {
	for i := range rows {
		if len(o.first) == overlapRecords {
			break
		}
		o.first = append(o.first, earlyRecord{rows[i].TsMs, identity(&rows[i])})
		o.hours[lake.PartitionOf(rows[i].TsMs)] = struct{}{}
	}
	return len(o.first) == overlapRecords
}

// lookFor counts the first records of the new source that are in the lake, once. last means that no further ones
// follow.
func (p *pipeline) lookFor(rows []lake.Row, last bool) error {
	o := &p.overlap
	if o.objects == nil || !o.add(rows) && !last {
		return nil
	}
	files, err := o.objects(slices.Sorted(maps.Keys(o.hours)))
	o.objects = nil
	if err != nil {
		return err
	}
	seen, in := o.count(files)
	p.report.Judged, p.report.Seen, p.report.SeenIn = len(o.first), seen, in
	if p.options.Cautious && p.report.Overlaps() {
		return overlapping(p.report)
	}
	return nil
}

// Overlaps reports whether most of the first records of a new source are in the lake already.
func (r Report) Overlaps() bool {
	least := overlapLeast
	if r.Sampled {
		least = overlapLeastFingerprints
	}
	return r.Judged >= least && 2*r.Seen > r.Judged
}

// overlapping is the error of a log of which most records are in the lake.
func overlapping(r Report) error {
	what := fmt.Sprintf("%d of the first %d records are in the data already, most of them from import %s, and "+
		"nothing was imported. The log seems to be a copy or a part of an imported log, and its records would be counted "+
		"twice", r.Seen, r.Judged, r.SeenIn)
	return &UnconfirmedError{what, "; if they are others, import them with --anyway"}
}

// count returns how many of the first records are in the objects in the files, and the source with most of them. It
// leaves out the rest of objects that cannot be read: queries report them.
func (o *overlap) count(files []string) (seen int, source string) {
	wanted, times := map[recordIdentity]int{}, map[int64]bool{}
	for _, r := range o.first {
		wanted[r.Identity]++
		times[r.TsMs] = true
	}
	sources := map[string]int{}
	for _, file := range files {
		_ = eachRowAt(file, times, func(row *lake.Row) {
			if id := identity(row); wanted[id] > 0 {
				wanted[id]--
				seen++
				sources[row.Source]++
			}
		})
	}
	return seen, mostFrequent(sources)
}

// identityColumns are the columns of the identity of a record, and the source.
var identityColumns = []string{
	"ts_ms", "ts_nanos", "source", "request_id", "ip", "method", "path", "query", "user_agent", "referer", "status",
	"bytes_sent", "total_us",
}

// identity returns what two records of the same request have in common, whatever values Options.Defaults adds to them.
func identity(r *lake.Row) recordIdentity {
	id := strconv.AppendInt(nil, r.TsMs, 10)
	for _, n := range []*int64{&r.TsNanos, r.Status, r.BytesSent, r.TotalUs} {
		if id = append(id, 0); n != nil {
			id = strconv.AppendInt(id, *n, 10)
		}
	}
	for _, text := range []*string{r.RequestID, r.IP, r.Method, r.Path, r.Query, r.UserAgent, r.Referer} {
		if id = append(id, 0); text != nil {
			id = append(append(id, 1), *text...)
		}
	}
	sum := sha256.Sum256(id)
	return recordIdentity(sum[:16])
}

// eachRowAt calls yield with the rows of the object in a file that have one of the times, with the identity columns, at
// most overlapRows. It reads one row group after the other, and overlapChunk rows at a time.
func eachRowAt(file string, times map[int64]bool, yield func(*lake.Row)) error {
	from, to := slices.Min(slices.Collect(maps.Keys(times))), slices.Max(slices.Collect(maps.Keys(times)))
	column, _ := parquet.ColumnOf("ts_ms", "")
	return withObject(file, func(f *os.File, size int64) error {
		object, err := parquet.OpenColumns(f, size)
		if err != nil {
			return err
		}
		var values parquet.ColumnValues
		first, left := int64(0), overlapRows
		for i, group := range object.RowGroups() {
			if group.MaxTsMs >= from && group.MinTsMs <= to && left > 0 {
				if err := object.Read(i, column, &values); err != nil {
					return err
				}
				var numbers []int64
				for row, ts := range values.Ints {
					if times[ts] && len(numbers) < left {
						numbers = append(numbers, first+int64(row))
					}
				}
				left -= len(numbers)
				if err := eachRow(f, size, numbers, yield); err != nil {
					return err
				}
			}
			first += int64(group.Rows)
		}
		return nil
	})
}

// eachRow calls yield with the rows of an object that have these numbers, with the identity columns.
func eachRow(f *os.File, size int64, numbers []int64, yield func(*lake.Row)) error {
	if len(numbers) == 0 {
		return nil
	}
	object, err := parquet.OpenFile(f, size)
	if err != nil {
		return err
	}
	for chunk := range slices.Chunk(numbers, overlapChunk) {
		rows, err := object.Rows(chunk, identityColumns)
		if err != nil {
			return errors.Join(err, object.Close())
		}
		for _, row := range rows {
			yield(row)
		}
	}
	return object.Close()
}
