package cloud

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/lakestate"
)

// familyLedger is the part of the ledger for one family: all sources with the same first line. It is one partition of
// the table, ingest#<family>:
//
//	family                          its revision is that of the family: every commit increases it
//	source#<id>                     a log as it grows
//	head#<id>                       its first 64 KiB, or all of it as long as it is shorter
//	import#<id>#<generation>        one import of it
//
// One more item of each source leads from its id to its family: ingest#source#<id>, family.
//
// An import reads the family, converts, and commits on the condition that the family has not changed. If two deliveries
// of one log are converted at the same time, one of them is committed. The other starts again and finds no new lines.
// If only other logs of the family were imported meanwhile, it reads the family again and commits.
type familyLedger struct {
	table   lakestate.Table
	family  string
	origin  origin
	guard   lakestate.Item // the item of the family as read
	sources map[string]sourceItem
	imports []importItem
}

var _ ingest.Ledger = (*familyLedger)(nil)

// origin is what an import item records besides the entry, so that its rows can be made again.
type origin struct {
	version     string       // of the raw log
	base        ingest.Entry // where the import begins
	from, until time.Time    // the times that its records may have
	report      ingest.Report
	quarantined int64 // bytes of the rejected lines that were kept
}

type familyItem struct {
	Imports int64 `json:"imports"` // number of committed imports
}

type sourceItem struct {
	ID         string `json:"id"`
	Log        string `json:"log,omitempty"` // "" if an earlier version has written the item
	Format     string `json:"format"`
	HeadLength int    `json:"head_length"` // of the first import
	HeadSum    string `json:"head_sha256"`
}

type headItem struct {
	Text []byte `json:"gzip"`
}

type importItem struct {
	Source     string    `json:"source"`
	Generation int       `json:"generation"`
	Log        string    `json:"log,omitempty"`  // "" if an earlier version has written the item
	Head       int       `json:"head,omitempty"` // length of the head, if this import has written it
	Name       string    `json:"name"`           // of the raw log
	At         time.Time `json:"at"`
	Rules      int       `json:"rules"`
	Length     int64     `json:"length"`
	Sum        string    `json:"sha256"`
	Lines      int64     `json:"lines"`
	Terminated bool      `json:"terminated"`
	Records    int64     `json:"records"`
	Rejected   int64     `json:"rejected"`
	Parts      int       `json:"parts"`
	Objects    int       `json:"objects"`
	Attempt    string    `json:"attempt"`

	// What follows is missing if an earlier version has written the item.
	Version        string `json:"version,omitempty"`     // of the raw log, if the bucket keeps versions
	BaseLength     int64  `json:"base_length,omitempty"` // of the part of the source before the import
	BaseLines      int64  `json:"base_lines,omitempty"`
	BaseTerminated bool   `json:"base_terminated,omitempty"`
	From           int64  `json:"from,omitempty"` // the times that records may have, in Unix milliseconds
	Until          int64  `json:"until,omitempty"`
	Quarantined    int64  `json:"quarantined,omitempty"` // bytes of the rejected lines that were kept
	Judged         int    `json:"judged,omitempty"`      // of a new source: marks of its first records
	Seen           int    `json:"seen,omitempty"`        // marks among them that other sources have
	SeenIn         string `json:"seen_in,omitempty"`
}

// sourceFamilyItem leads from a source to its family.
type sourceFamilyItem struct {
	Family string `json:"family"`
}

func sourceFamilyKey(source string) lakestate.Key {
	return lakestate.Key{Partition: "ingest#source#" + source, Sort: "family"}
}

func familyKey(family string) lakestate.Key {
	return lakestate.Key{Partition: "ingest#" + family, Sort: "family"}
}

func (l *familyLedger) key(sort string) lakestate.Key {
	return lakestate.Key{Partition: "ingest#" + l.family, Sort: sort}
}

func importSort(source string, generation int) string {
	return fmt.Sprintf("import#%s#%06d", source, generation)
}

// load reads the family of a text, once.
func (l *familyLedger) load(ctx context.Context, text []byte) error {
	if l.family != "" {
		return nil
	}
	return l.read(ctx, ingest.FamilyOf(text))
}

// read reads a family. It reads the guard first, so that the commit fails if another import is committed during the
// reading.
func (l *familyLedger) read(ctx context.Context, family string) error {
	guard, err := l.table.Get(ctx, familyKey(family))
	if err != nil {
		return fmt.Errorf("read ledger: %w", err)
	}
	sources, err := l.table.List(ctx, guard.Key.Partition, "source#")
	if err != nil {
		return fmt.Errorf("read ledger: %w", err)
	}
	imports, err := l.table.List(ctx, guard.Key.Partition, "import#")
	if err != nil {
		return fmt.Errorf("read ledger: %w", err)
	}
	l.guard, l.sources, l.imports = guard, map[string]sourceItem{}, make([]importItem, len(imports))
	for _, item := range sources {
		var s sourceItem
		if err := item.Read(&s); err != nil {
			return err
		}
		l.sources[s.ID] = s
	}
	for i, item := range imports {
		if err := item.Read(&l.imports[i]); err != nil {
			return err
		}
	}
	l.family = family
	return nil
}

// Candidates returns the imports that may be of the log, of the sources whose first head is a prefix of the text,
// shortest first.
func (l *familyLedger) Candidates(ctx context.Context, log string, text []byte) ([]ingest.Entry, error) {
	if err := l.load(ctx, text); err != nil {
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
			Family:     l.family,
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
		sum, err := hex.DecodeString(i.Sum)
		if err != nil || copy(e.Sum[:], sum) != len(e.Sum) {
			return nil, fmt.Errorf("ledger: import %d of source %s has the hash %q", i.Generation, i.Source, i.Sum)
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
func (l *familyLedger) Beginning(ctx context.Context, log string, text []byte) (string, error) {
	if err := l.load(ctx, text); err != nil {
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
func (l *familyLedger) Head(ctx context.Context, source string) ([]byte, error) {
	item, err := l.table.Get(ctx, l.key("head#"+source))
	if err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	return headOf(item)
}

// quarantined returns the size in bytes of the rejected lines of a source that are in quarantine, without those of the
// import with a generation. The bucket removes them after ingest.QuarantineDays.
func (l *familyLedger) quarantined(source string, without int, now time.Time) (size int64) {
	since := now.AddDate(0, 0, -ingest.QuarantineDays)
	for _, i := range l.imports {
		if i.Source == source && i.Generation != without && i.At.After(since) {
			size += i.Quarantined
		}
	}
	return size
}

// Knows reports whether a source with that id exists.
func (l *familyLedger) Knows(_ context.Context, source string) (bool, error) {
	_, known := l.sources[source]
	return known, nil
}

// changes returns the changes of the table that commit an entry.
func (l *familyLedger) changes(ctx context.Context, e ingest.Entry, attempt string) ([]lakestate.Change, error) {
	var guard familyItem
	if err := l.guard.Read(&guard); err != nil {
		return nil, err
	}
	guard.Imports++
	if e.Generation > 1 && l.sources[e.Source].Log != e.Log {
		e.Head = nil // the first import is of an earlier version; its head may be that of any log
	}
	type write struct {
		item lakestate.Item
		body any
	}
	list := []write{
		{l.guard, guard},
		{lakestate.Item{Key: l.key(importSort(e.Source, e.Generation))}, importItem{
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

			Version:        l.origin.version,
			BaseLength:     l.origin.base.Length,
			BaseLines:      l.origin.base.Lines,
			BaseTerminated: l.origin.base.Terminated,
			From:           l.origin.from.UnixMilli(),
			Until:          l.origin.until.UnixMilli(),
			Quarantined:    l.origin.quarantined,
			Judged:         l.origin.report.Judged,
			Seen:           l.origin.report.Seen,
			SeenIn:         l.origin.report.SeenIn,
		}},
	}
	family, err := l.table.Get(ctx, sourceFamilyKey(e.Source))
	if err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	if family.Revision == 0 { // the source is new, or an earlier version has imported its beginning
		list = append(list, write{family, sourceFamilyItem{Family: l.family}})
	}
	if e.Generation == 1 {
		list = append(list, write{lakestate.Item{Key: l.key("source#" + e.Source)}, sourceItem{
			ID:         e.Source,
			Log:        e.Log,
			Format:     e.Format,
			HeadLength: len(e.Head),
			HeadSum:    sumOf(e.Head),
		}})
	}
	if e.Head != nil {
		text, err := compress(e.Head)
		if err != nil {
			return nil, err
		}
		item := lakestate.Item{Key: l.key("head#" + e.Source)}
		if e.Generation > 1 {
			if item, err = l.table.Get(ctx, item.Key); err != nil {
				return nil, fmt.Errorf("read ledger: %w", err)
			}
		}
		list = append(list, write{item, headItem{Text: text}})
	}
	changes := make([]lakestate.Change, len(list))
	for i, w := range list {
		var err error
		if changes[i], err = lakestate.ChangeOf(w.item, w.body); err != nil {
			return nil, err
		}
	}
	return changes, nil
}

// refresh reads the family again if it has changed. It reports whether everything that concerns the log is as before:
// then an import of the log that was converted before can still be committed, even if logs of other names with the same
// first line were imported meanwhile.
func (l *familyLedger) refresh(ctx context.Context, log string) (same bool, err error) {
	guard, err := l.table.Get(ctx, l.guard.Key)
	if err != nil {
		return false, fmt.Errorf("read ledger: %w", err)
	}
	if guard.Revision == l.guard.Revision {
		return true, nil
	}
	var family familyItem
	if err := l.guard.Read(&family); err != nil {
		return false, err
	}
	if family.Imports != int64(len(l.imports)) {
		return false, nil // an import was committed between the reading of the guard and that of the imports
	}
	before := l.concerning(log)
	if err := l.read(ctx, l.family); err != nil {
		return false, err
	}
	return maps.Equal(before, l.concerning(log)), nil
}

// concerning returns the number of the imports of each source that may be of the log, or has an import that may be.
func (l *familyLedger) concerning(log string) map[string]int {
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

// holds reports whether the import was committed by that attempt.
func (l *familyLedger) holds(ctx context.Context, e ingest.Entry, attempt string) (bool, error) {
	item, err := l.table.Get(ctx, l.key(importSort(e.Source, e.Generation)))
	var i importItem
	if err == nil {
		err = item.Read(&i)
	}
	if err != nil {
		return false, fmt.Errorf("read ledger: %w", err)
	}
	return i.Attempt == attempt, nil
}

func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func compress(text []byte) ([]byte, error) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, err := z.Write(text)
	if err := errors.Join(err, z.Close()); err != nil {
		return nil, fmt.Errorf("compress head: %w", err)
	}
	return out.Bytes(), nil
}

func headOf(item lakestate.Item) ([]byte, error) {
	var head headItem
	if err := item.Read(&head); err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(head.Text))
	if err != nil {
		return nil, fmt.Errorf("read item %s %s: %w", item.Key.Partition, item.Key.Sort, err)
	}
	text, err := io.ReadAll(z)
	if err := errors.Join(err, z.Close()); err != nil {
		return nil, fmt.Errorf("read item %s %s: %w", item.Key.Partition, item.Key.Sort, err)
	}
	return text, nil
}
