package ledgertable

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/lakestate"
)

// NotRebuildable is the reason why a lost object cannot be rebuilt.
type NotRebuildable string

func (n NotRebuildable) Error() string { return string(n) }

// Reasons that the ledger has. Operators read them after "object … cannot be rebuilt:".
const (
	NoSource NotRebuildable = "the ledger does not have the source of its rows, because an earlier version imported it"
	noPeriod NotRebuildable = "an earlier version imported its log, and did not record the period of its records"
	noRules  NotRebuildable = "its log was imported with other rules than those of this version"
)

// PastImport is an import in the ledger with the names under which its log may be in the bucket.
type PastImport struct {
	Past       ingest.Past
	generation int
	From       time.Time
	Until      time.Time
	Logs       []rawlog.Log
}

// ID returns the id of the import.
func (p PastImport) ID() string { return ImportID(p.Past.Entry.Source, p.generation) }

// OfSource returns the ledger of a source.
func OfSource(ctx context.Context, table lakestate.Table, source string) (*Ledger, error) {
	of, _, err := lakestate.Get[sourceFamilyItem](ctx, table, sourceFamilyKey(source))
	if err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	if of.Family == "" {
		return nil, NoSource
	}
	r, err := readFamily(ctx, table, of.Family, source)
	l := &Ledger{homes: map[string]string{}, sources: map[string]sourceItem{}}
	l.add(of.Family, r)
	return l, err
}

// ImportOf returns the import that has made an object of a source.
func (l *Ledger) ImportOf(source string, part int) (PastImport, error) {
	var of []importItem // oldest first
	for _, i := range l.imports {
		if i.Source == source {
			of = append(of, i)
		}
	}
	slices.SortFunc(of, func(a, b importItem) int { return a.Generation - b.Generation })
	n := slices.IndexFunc(of, func(i importItem) bool { return part < i.Parts })
	if n < 0 {
		return PastImport{}, NoSource
	}
	i := of[n]
	switch {
	case i.Until == 0:
		return PastImport{}, noPeriod
	case i.Rules != ingest.Rules:
		return PastImport{}, noRules
	}
	p := PastImport{
		Past: ingest.Past{
			Entry: ingest.Entry{
				Source: source, Format: l.sources[source].Format, Length: i.Length, Lines: i.Lines, Records: i.Records,
			},
			Base: ingest.Entry{Length: i.BaseLength, Lines: i.BaseLines, Terminated: i.BaseTerminated},
		},
		generation: i.Generation,
		From:       time.UnixMilli(i.From),
		Until:      time.UnixMilli(i.Until),
		Logs:       []rawlog.Log{{Key: i.Name, Version: i.Version}},
	}
	var err error
	if p.Past.Entry.Sum, err = i.sum(); err != nil {
		return PastImport{}, err
	}
	// The log may have got another name since, and the logs of later imports begin with its content.
	for _, later := range slices.Backward(of[n:]) {
		if log := (rawlog.Log{Key: later.Name}); !slices.Contains(p.Logs, log) {
			p.Logs = append(p.Logs, log)
		}
	}
	return p, nil
}

// Find returns the number of lines and the name of an import, and the format of its source. An error of kind
// fault.NotFound means that the ledger does not have it, or that an earlier version imported the beginning of the log.
func Find(
	ctx context.Context, table lakestate.Table, source string, generation int,
) (ingest.Entry, error) {
	unknown := fault.New(fault.NotFound, "the ledger does not have import %d of source %s", generation, source)
	family, item, err := lakestate.Get[sourceFamilyItem](ctx, table, sourceFamilyKey(source))
	if err != nil {
		return ingest.Entry{}, err
	}
	if item.Revision == 0 {
		return ingest.Entry{}, unknown
	}
	s, _, err := lakestate.Get[sourceItem](ctx, table, itemKey(family.Family, "source#"+source))
	if err != nil {
		return ingest.Entry{}, err
	}
	i, item, err := lakestate.Get[importItem](ctx, table, itemKey(family.Family, importSort(source, generation)))
	if err != nil {
		return ingest.Entry{}, err
	}
	if item.Revision == 0 {
		return ingest.Entry{}, unknown
	}
	return ingest.Entry{
		Source: source, Generation: generation, Name: i.Name, Format: s.Format, Lines: i.Lines, Family: family.Family,
	}, nil
}
