package ingest

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
)

// Options says how to read a log.
type Options struct {
	Format   string    // a source's name; "" or "auto" to tell it from the first lines
	Defaults []Default // for fields that a record lacks
	Progress func(Progress)
	Memory   int64 // about how many bytes of rows wait to be written; 0 for DefaultMemory
	Workers  int   // goroutines that decode and write; 0 for DefaultWorkers

	// Growing says that the input is a file that may still be written to. A last line without newline is then left for
	// the next import, unless the file is compressed: it may be the beginning of a line, and a record with wrong figures.
	Growing bool

	// From and Until bound the times of records: others are rejected. Zero for the years 1970 to 9999.
	From, Until time.Time
	// Take, when set, gets every object as soon as it has been verified, and may remove the file. Several goroutines
	// call it. Nothing of an import may be seen by readers before it is committed.
	Take func(ctx context.Context, path string, object lake.Object) error
	// Enough, when set, is asked now and then whether to stop. Then the import ends with the last whole line read, as
	// if the log had not grown further yet.
	Enough func() bool
}

const (
	// DefaultMemory keeps the process under 768 MB with two workers; see README.md.
	DefaultMemory = 96 << 20
	// DefaultWorkers is how many goroutines decode and write.
	DefaultWorkers = 2
	// MaxPartitions is in how many hours the records of one import may lie, more than two years: every hour becomes a
	// file, so that a log with random times would make millions.
	MaxPartitions = 20_000
)

// Progress is how far an import has come.
type Progress struct {
	Bytes   int64 // of the input as given, compressed or not
	Records int64
}

// Report is what an import did.
type Report struct {
	Name     string
	Source   string // id in the ledger; "" when the input was empty
	Format   string
	Records  int64                 // new records
	Rejected map[record.Code]int64 // new lines that are no records, by reason
	Blank    int64                 // new lines without text
	Known    int64                 // lines imported before
	Left     int64                 // bytes of a last line without newline, left for the next import; see Options.Growing
	Invalid  int64                 // records with text that is no Unicode: U+FFFD stands for it, the original is kept

	Partitions int
	Objects    int
	Bytes      int64  // decompressed bytes of new lines
	Quarantine string // file with the rejected lines; "" when there are none
	Elapsed    time.Duration
}

// RejectedLines is how many lines were rejected for any reason.
func (r Report) RejectedLines() int64 {
	var n int64
	for _, count := range r.Rejected {
		n += count
	}
	return n
}

// Reasons lists the codes of rejected lines, in alphabetical order.
func (r Report) Reasons() []record.Code { return slices.Sorted(maps.Keys(r.Rejected)) }
