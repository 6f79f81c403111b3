package ingest

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
)

// Options are the options of an import.
type Options struct {
	// Path is the path of the log, or its key. The name of the log follows from it, see ledger.LogName. "" means the
	// name of the input.
	Path string

	Format   string         // name of a log format; "" or "auto" to detect it in the first lines
	Zone     string         // time zone of times without one, as logformat.InZone has it; "" for that of the format
	Defaults []Default      // values for fields that a record lacks
	Progress func(Progress) // if set, called after every batch
	Memory   int64          // approximate limit of the rows in memory, in bytes; 0 for DefaultMemory
	Workers  int            // number of goroutines that decode and write; 0 for DefaultWorkers

	// Complete, if set, is called with each record after the defaults are set, to set what else the record lacks.
	// Several goroutines call it at the same time. An error ends the import.
	Complete func(row *lake.Row) error
	GeoIP    []string // files of the databases that Complete uses, for the ledger

	// Growing means that the input is a file to which another process may still write. Then the import leaves a last
	// line without newline to the next import, unless the file is compressed: the line may be incomplete, and a record
	// of its beginning could have wrong values.
	Growing bool

	// From and Until limit the times of records: a record before From, or at or after Until, is rejected. The zero
	// values stand for the years 1970 to 9999.
	From, Until time.Time
	// Horizon, if not zero, rejects records of more than that time before Arrival, when the log arrived. Sources from
	// which logs come continuously have a horizon, because a record with a wrong clock is more likely there than an old
	// log. An import that a person starts has none.
	Horizon time.Duration
	Arrival time.Time
	// KeptFrom, if not zero, is the time from which on the lake keeps records. Those before it are counted, and neither
	// imported nor put into quarantine.
	KeptFrom time.Time
	// Cautious means that a person has started the import and can be asked. Then an import that is probably a mistake
	// ends with a *UnconfirmedError.
	Cautious bool
	// Quarantined, if set, returns the size in bytes of the rejected lines of a source that are in quarantine already,
	// without those of the import with that generation, which the new ones replace. Of the lines that would exceed
	// QuarantineBytes, the import only counts the number.
	Quarantined func(source string, generation int) (int64, error)
	// QuarantineLimit, if not zero, is a lower limit than QuarantineBytes for the rejected lines of this import.
	QuarantineLimit int64

	// Objects, if set, returns the files of the objects of some hours. An import of a new source then counts which of
	// its first records are in them already.
	Objects func(hours []lake.Partition) ([]string, error)

	// LookUp, if set, looks up fingerprints. An import of a new source then counts which of its first records have
	// fingerprints of other sources, and Conversion.Fingerprints has those of the import.
	LookUp FingerprintLookup

	// Checkpoints, with LookUp, OnObject and Stop not set, let an import that is interrupted continue.
	Checkpoints Checkpoints

	// OnObject, if set, is called with every object and its file once the object is verified. It may remove the file.
	// Several goroutines call it at the same time. Readers must not see the object before the import is committed.
	OnObject func(ctx context.Context, path string, object lake.Object) error
	// Stop, if set, is called between batches. When it returns true, the import ends after the last complete line read,
	// as if the log ended there and had yet to grow.
	Stop func() bool
}

const (
	// DefaultHorizon is the horizon of sources from which logs come continuously.
	DefaultHorizon = 35 * 24 * time.Hour
	// DefaultMemory keeps the memory of the process under 768 MB with two workers; see README.md.
	DefaultMemory = 96 << 20
	// DefaultMergeMemory is the memory of a merge of objects.
	DefaultMergeMemory = 192 << 20
	// DefaultWorkers is the default number of goroutines that decode and write.
	DefaultWorkers = 2
	// QuarantineBytes is the maximum size of the rejected lines of a source that are kept.
	QuarantineBytes = 100_000_000
	// QuarantineDays is the number of days for which rejected lines are kept.
	QuarantineDays = 90
	// MaxPartitions is the maximum number of hours with records of one import, which is more than two years. Every hour
	// becomes a file, so a log with random times would result in millions of files.
	MaxPartitions = 20_000
)

// settings returns the defaults as a ledger has them.
func (o Options) settings() []string {
	settings := make([]string, len(o.Defaults))
	for i, d := range o.Defaults {
		settings[i] = d.Field + "=" + d.Value
	}
	return settings
}

// Progress is the progress of an import.
type Progress struct {
	Bytes   int64 // bytes read of the input, compressed or not
	Records int64
}

// Report is the result of an import.
type Report struct {
	Name     string
	Source   string // id in the ledger; "" if the input was empty
	Format   string
	Records  int64                 // new records
	Rejected map[record.Code]int64 // new lines that are not records, by reason
	First    string                // number, reason and text of the first new line that is not a record, or ""
	Blank    int64                 // new lines without text, and directives
	Known    int64                 // lines of earlier imports
	Expired  int64                 // new lines with records before Options.KeptFrom, which are not imported
	Resumed  int64                 // new lines that an interrupted import has read, after which this one has continued
	Left     int64                 // bytes of a last line without newline that is left; see Options.Growing
	Columns  string                // format string that reads what the log's format leaves; see logformat.Columns
	Invalid  int64                 // records with invalid UTF-8: U+FFFD replaces it, the row keeps the line
	Misfits  map[string]int64      // values of a wrong type by their field, which log_rest has instead
	Absent   []string              // of address, method, host, path and status: what no new record has

	Objects    int
	Bytes      int64  // decompressed bytes of new lines
	Quarantine string // file with the rejected lines; "" if there are none
	Unsaved    int64  // rejected lines that are not in the file, because there was no space left for them
	Elapsed    time.Duration

	// Of the first Judged records of a new source, Seen are in the lake already, most of them in the source SeenIn.
	Judged, Seen int
	SeenIn       string
	Sampled      bool // Judged and Seen count fingerprints, which about one of sixteen records has
	// Unchecked is why it is not known whether the first records are in the lake already, or why that will not be known
	// of later logs with the records of this one; or "".
	Unchecked string

	// Forgotten is the forgotten source to which the log belongs, of which a Watcher has imported nothing; or "".
	Forgotten string
}

// Oddities returns the fields of a log entry about the import with what the records lack, their values of a wrong type,
// and the format string that reads further columns, if any.
func (r Report) Oddities() (fields []any) {
	if len(r.Absent) > 0 {
		fields = append(fields, "absent", r.Absent)
	}
	if len(r.Misfits) > 0 {
		fields = append(fields, "misfits", r.Misfits)
	}
	if r.Columns != "" {
		fields = append(fields, "log-format", r.Columns)
	}
	return fields
}

// RejectedLines returns the number of rejected lines.
func (r Report) RejectedLines() int64 {
	var n int64
	for _, count := range r.Rejected {
		n += count
	}
	return n
}

// Reasons returns the codes of the rejected lines in alphabetical order.
func (r Report) Reasons() []record.Code { return slices.Sorted(maps.Keys(r.Rejected)) }
