// Package ledgertable has the ledger of the imports of raw logs, in the table of the state of the lake.
package ledgertable

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/gzipped"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/ledger"
	"github.com/orrery/orrery/shared/lakestate"
)

// Ledger is the part of the ledger that one log needs. A family is a partition of the table, ingest#<family>. It
// has the sources with the same name and the same first line, see ledger.LogFamily:
//
//	source#<id>                     a log as it grows
//	head#<id>                       its first 64 KiB, or all of it as long as it is shorter
//	import#<id>#<generation>        one import of it
//
// The family of a name, without a line, has one more item, the guard of all imports of logs with that name:
//
//	family                          its revision increases with every commit of such a log
//
// One more item of each source leads from its id to its family: ingest#source#<id>, family.
//
// An early version recorded sources without a name. Every log may be one of them, so its import also reads the
// family without a name and with its first line. See oldFamily for the sources that earlier versions have recorded
// elsewhere.
//
// An import reads the families, converts, and commits on the condition that the guard has not changed. If two
// deliveries of one log are converted at the same time, one of them is committed. The other starts again and finds no
// new lines.
// If only other logs with the same name were imported meanwhile, it reads the families again and commits.
type Ledger struct {
	table   lakestate.Table
	now     func() time.Time
	log     string // its name
	text    []byte // its beginning
	Origin  Origin
	own     string                    // family of new sources
	guards  map[string]lakestate.Item // by name, as read
	old     oldFamily
	homes   map[string]string // families of the sources
	sources map[string]sourceItem
	imports []importItem
}

var _ ingest.Ledger = (*Ledger)(nil)

// New returns the ledger of a log, which the first call of a method of ingest.Ledger names.
func New(table lakestate.Table, now func() time.Time) *Ledger {
	return &Ledger{table: table, now: now}
}

// load reads the families of a log with a beginning, once.
func (l *Ledger) load(ctx context.Context, log string, text []byte) error {
	if l.sources != nil {
		return nil
	}
	l.log, l.text = log, text
	return l.read(ctx)
}

// read reads the families. It reads the guards first, so that the commit fails if another import is committed during
// the reading, and the old family before those to which its sources move.
func (l *Ledger) read(ctx context.Context) error {
	l.guards, l.homes = map[string]lakestate.Item{}, map[string]string{}
	l.sources, l.imports = map[string]sourceItem{}, nil
	if err := l.readOld(ctx); err != nil {
		return err
	}
	for _, log := range []string{l.log, ""} {
		known, guard, err := lakestate.Get[guardItem](ctx, l.table, guardKey(log))
		if err != nil {
			return fmt.Errorf("read ledger: %w", err)
		}
		l.guards[log] = guard
		if guard.Revision == 0 {
			continue // there are no sources with that name
		}
		families := []string{ledger.LogFamily(log, nil)}
		if family := ledger.LogFamily(log, l.text); family != families[0] {
			families = append(families, family)
		} else {
			families = append(families, known.Newest...)
		}
		for _, family := range families {
			records, err := readFamily(ctx, l.table, family, "")
			if err != nil {
				return err
			}
			l.add(family, records)
		}
	}
	l.add(l.old.id, l.old.records)
	l.own = ledger.LogFamily(l.log, l.text)
	if l.old.isOpen() {
		l.own = l.old.id
	}
	return nil
}

// records are the sources of a family and their imports.
type records struct {
	sources []sourceItem
	imports []importItem
}

// readFamily reads the records of a family, or of one source of it unless source is "". It reads the imports first, so
// that it finds the sources of all of them.
func readFamily(ctx context.Context, table lakestate.Table, family, source string) (r records, err error) {
	if source != "" {
		source += "#"
	}
	partition := familyKey(family).Partition
	imports, err := table.List(ctx, partition, "import#"+source)
	if err != nil {
		return records{}, fmt.Errorf("read ledger: %w", err)
	}
	r.imports = make([]importItem, len(imports))
	for i, item := range imports {
		if err := item.Read(&r.imports[i]); err != nil {
			return records{}, err
		}
	}
	if len(imports) == 0 {
		return records{}, nil
	}
	sources, err := table.List(ctx, partition, "source#"+strings.TrimSuffix(source, "#"))
	if err != nil {
		return records{}, fmt.Errorf("read ledger: %w", err)
	}
	r.sources = make([]sourceItem, len(sources))
	for i, item := range sources {
		if err := item.Read(&r.sources[i]); err != nil {
			return records{}, err
		}
	}
	return r, nil
}

// add adds the records of a family, without those that are known: a source that moves is in two families.
func (l *Ledger) add(family string, r records) {
	for _, s := range r.sources {
		if _, known := l.sources[s.ID]; !known {
			l.sources[s.ID], l.homes[s.ID] = s, family
		}
	}
	known := map[string]bool{}
	for _, i := range l.imports {
		known[i.id()] = true
	}
	for _, i := range r.imports {
		if !known[i.id()] {
			l.imports = append(l.imports, i)
		}
	}
}

// Covers reports whether open imports of a family may be of the log.
func (l *Ledger) Covers(family string) bool {
	return family == l.old.id || family == ledger.LogFamily(l.log, l.text) || family == ledger.LogFamily(l.log, nil) ||
		family == ledger.LogFamily("", l.text) || family == ledger.LogFamily("", nil)
}

// Candidates returns the imports that may be of the log, of the sources whose first head is a prefix of the text,
// shortest first.
func (l *Ledger) Candidates(ctx context.Context, log string, text []byte) ([]ingest.Entry, error) {
	if err := l.load(ctx, log, text); err != nil {
		return nil, err
	}
	latest := map[string]int{}
	for _, i := range l.imports {
		latest[i.Source] = max(latest[i.Source], i.Generation)
	}
	var found []ingest.Entry
	for _, i := range l.imports {
		s := l.sources[i.Source]
		if s.HeadLength > len(text) || s.HeadSum != sumOf(text[:s.HeadLength]) {
			continue
		}
		e := ingest.Entry{
			Source:     i.Source,
			Log:        i.Log,
			Format:     s.Format,
			Family:     l.homes[i.Source],
			Generation: i.Generation,
			Name:       i.Name,
			At:         i.At,
			Length:     i.Length,
			Lines:      i.Lines,
			Terminated: i.Terminated,
			Records:    i.Records,
			Rejected:   i.Rejected,
			Parts:      i.Parts,
			Latest:     i.Generation == latest[i.Source],
		}
		if !e.IsOf(log) {
			continue
		}
		var err error
		if e.Sum, err = i.sum(); err != nil {
			return nil, err
		}
		found = append(found, e)
	}
	slices.SortFunc(found, func(a, b ingest.Entry) int {
		return cmp.Or(
			cmp.Compare(a.Length, b.Length), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Generation, b.Generation),
		)
	})
	return found, nil
}

// Beginning returns a source that may be of the log and has a head that is longer than the text and begins with it, or
// "".
func (l *Ledger) Beginning(ctx context.Context, log string, text []byte) (string, error) {
	if err := l.load(ctx, log, text); err != nil {
		return "", err
	}
	length := map[string]int{}
	for id, s := range l.sources {
		length[id] = s.HeadLength
	}
	for _, i := range l.imports {
		length[i.Source] = max(length[i.Source], i.Head)
	}
	for _, id := range slices.Sorted(maps.Keys(l.sources)) {
		of := ingest.Entry{Log: l.sources[id].Log}
		if length[id] <= len(text) || !of.IsOf(log) {
			continue
		}
		head, err := l.Head(ctx, id)
		if err != nil {
			return "", err
		}
		if bytes.HasPrefix(head, text) {
			return id, nil
		}
	}
	return "", nil
}

// Head returns the head of a source.
func (l *Ledger) Head(ctx context.Context, source string) ([]byte, error) {
	item, err := l.table.Get(ctx, itemKey(l.homes[source], "head#"+source))
	if err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	return headOf(item)
}

// Quarantined returns the size in bytes of the rejected lines of a source that are in quarantine. It leaves out one
// import, by its generation. The bucket removes lines after ingest.QuarantineDays.
func (l *Ledger) Quarantined(source string, without int, now time.Time) (size int64) {
	since := now.AddDate(0, 0, -ingest.QuarantineDays)
	for _, i := range l.imports {
		if i.Source == source && i.Generation != without && i.At.After(since) {
			size += i.Quarantined
		}
	}
	return size
}

// Knows reports whether a source with that id exists.
func (l *Ledger) Knows(_ context.Context, source string) (bool, error) {
	_, known := l.sources[source]
	return known, nil
}

// Place sets the family of an entry to the family of its source. A source in an old family that has ended moves first.
func (l *Ledger) Place(ctx context.Context, e *ingest.Entry) (err error) {
	e.Family = l.own
	if e.Generation == 1 {
		return nil
	}
	e.Family = l.homes[e.Source]
	if l.old.isOpen() {
		return nil
	}
	for _, s := range l.old.records.sources {
		if s.ID == e.Source {
			imports := slices.Clone(l.old.records.imports)
			imports = slices.DeleteFunc(imports, func(i importItem) bool { return i.Source != e.Source })
			e.Family, err = l.old.move(ctx, l.table, s, imports)
			l.homes[e.Source] = e.Family
		}
	}
	return err
}

// write is an item as read, and its new body.
type write struct {
	item lakestate.Item
	body any
}

// guarded returns the guards of a commit, which fails if they have changed.
func (l *Ledger) guarded(e ingest.Entry) (list []write, err error) {
	names := []string{l.log}
	if e.Generation > 1 && l.sources[e.Source].Log == "" && e.Family != l.old.id && l.log != "" {
		names = append(names, "")
	}
	for _, name := range names {
		var guard guardItem
		if err := l.guards[name].Read(&guard); err != nil {
			return nil, err
		}
		guard.Imports++
		family := ledger.LogFamily(l.log, l.text)
		if e.Generation == 1 && e.Family == family && family != ledger.LogFamily(l.log, nil) {
			guard.add(family)
		}
		list = append(list, write{l.guards[name], guard})
	}
	return list, nil
}

// Changes returns the changes of the table that commit an entry that has its place.
func (l *Ledger) Changes(ctx context.Context, e ingest.Entry, attempt string) ([]lakestate.Change, error) {
	list, err := l.guarded(e)
	if err != nil {
		return nil, err
	}
	if e.Generation > 1 && l.sources[e.Source].Log != e.Log {
		e.Head = nil // an earlier version made the first import; its head may belong to any log
	}
	list = append(list,
		write{lakestate.Item{Key: itemKey(e.Family, importSort(e.Source, e.Generation))}, importItem{
			Source:     e.Source,
			Generation: e.Generation,
			Log:        e.Log,
			Head:       len(e.Head),
			Name:       e.Name,
			At:         e.At.UTC(),
			Rules:      ingest.Rules,
			Length:     e.Length,
			Sum:        hex.EncodeToString(e.Sum[:]),
			Lines:      e.Lines,
			Terminated: e.Terminated,
			Records:    e.Records,
			Rejected:   e.Rejected,
			Parts:      e.Parts,
			Objects:    len(e.Objects),
			Attempt:    attempt,

			Version:        l.Origin.Version,
			BaseLength:     l.Origin.Base.Length,
			BaseLines:      l.Origin.Base.Lines,
			BaseTerminated: l.Origin.Base.Terminated,
			From:           l.Origin.From.UnixMilli(),
			Until:          l.Origin.Until.UnixMilli(),
			Quarantined:    l.Origin.Quarantined,
			Judged:         l.Origin.Report.Judged,
			Seen:           l.Origin.Report.Seen,
			SeenIn:         l.Origin.Report.SeenIn,

			Absent:  l.Origin.Report.Absent,
			Misfits: l.Origin.Report.Misfits,
		}})
	family, err := l.table.Get(ctx, sourceFamilyKey(e.Source))
	if err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	if family.Revision == 0 { // the source is new, or an earlier version has imported its beginning
		list = append(list, write{family, sourceFamilyItem{Family: e.Family}})
	}
	if e.Generation == 1 {
		list = append(list, write{lakestate.Item{Key: itemKey(e.Family, "source#"+e.Source)}, sourceItem{
			ID:         e.Source,
			Log:        e.Log,
			Format:     e.Format,
			HeadLength: len(e.Head),
			HeadSum:    sumOf(e.Head),
		}})
	}
	if e.Head != nil {
		item := lakestate.Item{Key: itemKey(e.Family, "head#"+e.Source)}
		if e.Generation > 1 {
			if item, err = l.table.Get(ctx, item.Key); err != nil {
				return nil, fmt.Errorf("read ledger: %w", err)
			}
		}
		list = append(list, write{item, headItem{Text: gzipped.Of(e.Head)}})
	}
	changes := make([]lakestate.Change, len(list))
	for i, w := range list {
		var err error
		if changes[i], err = lakestate.ChangeOf(w.item, w.body); err != nil {
			return nil, err
		}
	}
	fence, err := l.old.fence(e, l.now())
	return append(changes, fence...), err
}

// Refresh reads the families again if a guard has changed. It reports whether everything that concerns the log is as
// before: then an import of the log that was converted before can still be committed, even if other logs of the same
// name were imported meanwhile.
func (l *Ledger) Refresh(ctx context.Context, log string) (same bool, err error) {
	same = true
	for _, guard := range append(slices.Collect(maps.Values(l.guards)), l.old.guard) {
		item, err := l.table.Get(ctx, guard.Key)
		if err != nil {
			return false, fmt.Errorf("read ledger: %w", err)
		}
		same = same && item.Revision == guard.Revision
	}
	if same {
		return true, nil
	}
	own, before := l.own, l.concerning(log)
	if err := l.read(ctx); err != nil {
		return false, err
	}
	return l.own == own && maps.Equal(before, l.concerning(log)), nil
}

// concerning returns the number of the imports of each source that may be of the log, or has an import that may be.
func (l *Ledger) concerning(log string) map[string]int {
	imports, concerned := map[string]int{}, map[string]int{}
	for _, i := range l.imports {
		imports[i.Source]++
	}
	for _, i := range l.imports {
		if of := (ingest.Entry{Log: i.Log}); of.IsOf(log) {
			concerned[i.Source] = imports[i.Source]
		}
	}
	return concerned
}

// Holds reports whether the import was committed by that attempt.
func (l *Ledger) Holds(ctx context.Context, e ingest.Entry, attempt string) (bool, error) {
	i, _, err := lakestate.Get[importItem](ctx, l.table, itemKey(e.Family, importSort(e.Source, e.Generation)))
	if err != nil {
		return false, fmt.Errorf("read ledger: %w", err)
	}
	return i.Attempt == attempt, nil
}
