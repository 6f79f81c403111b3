package cloud

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/cloud/bucket"
	"github.com/orrery/orrery/shared/ingest/cloud/ledgertable"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/ingest/ledger"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
)

// Refused is the code in Quarantine of a log that was refused as a whole.
const Refused = "refused"

// Quarantine returns what is in quarantine: the rejected lines by source and reason, and then the logs that were
// refused or have no records, whose ID is their key.
func (c *Store) Quarantine(ctx context.Context) ([]ingest.Rejected, error) {
	var all []ingest.Rejected
	for info, err := range c.Lake.List(ctx, bucket.QuarantineRoot, "") {
		if err != nil {
			return nil, err
		}
		id, generation, ok := ingest.ParseQuarantineName(strings.TrimPrefix(info.Name, bucket.QuarantineRoot))
		if !ok {
			continue
		}
		source := ledger.Source{ID: id}
		if e, err := ledgertable.Find(ctx, c.Table, id, generation); err == nil {
			source.Name, source.Format = e.Name, e.Format
		} else if fault.KindOf(err) != fault.NotFound {
			return nil, err
		}
		if all, err = c.addRejected(ctx, all, source, info.Name); err != nil {
			return nil, err
		}
	}
	for info, err := range c.Lake.List(ctx, bucket.RefusedRoot, "") {
		if err != nil {
			return nil, err
		}
		name := strings.TrimPrefix(info.Name, bucket.RefusedRoot)
		if key, ok := strings.CutSuffix(name, linesSuffix); ok {
			all, err = c.addRejected(ctx, all, ledger.Source{ID: key, Name: key}, info.Name)
		} else if key, ok := strings.CutSuffix(name, refusalSuffix); ok {
			var note refusal
			if err = c.Lake.ReadJSON(ctx, info.Name, &note); err == nil {
				all = append(all, ingest.Rejected{
					Source: ledger.Source{ID: key, Name: key}, Code: Refused,
					First: ingest.RejectedLine{Message: note.message()}, Map: note.Map,
				})
			}
		}
		if err != nil && !errors.Is(err, blob.ErrNotFound) {
			return nil, err
		}
	}
	return all, nil
}

// addRejected adds the lines of an object with rejected lines, unless it was removed.
func (c *Store) addRejected(
	ctx context.Context, all []ingest.Rejected, source ledger.Source, name string,
) (list []ingest.Rejected, err error) {
	err = c.withScratch("quarantine-", func(dir string) error {
		file := filepath.Join(dir, "rejected")
		if err := c.Lake.Download(ctx, name, file); err != nil {
			return err
		}
		all, err = ingest.AddRejected(all, source, file)
		return err
	})
	if errors.Is(err, blob.ErrNotFound) {
		err = nil
	}
	return all, err
}

// withScratch calls do with a new scratch directory, and removes it afterwards.
func (c *Store) withScratch(pattern string, do func(dir string) error) error {
	dir, err := os.MkdirTemp(c.Scratch, pattern)
	if err != nil {
		return fmt.Errorf("make scratch directory: %w", err)
	}
	return errors.Join(do(dir), os.RemoveAll(dir))
}

// RetryReport is the result of Retry.
type RetryReport struct {
	Source   string
	Records  int64    // that lines are now
	Rejected int64    // lines that stay in quarantine
	Logs     []string // keys of the logs with the records
}

// Retry puts the rejected lines of a source that are records now as a log into the raw bucket, where they are imported
// like any log, and removes them from quarantine. id is the id of the source or its unique beginning. If the options
// have no format, Retry uses the format of the source.
//
// Each line is imported once: of each object with rejected lines, the first retry that finds records writes their list,
// which determines the log and what stays in quarantine. Every later step may be repeated, at the same time and by
// other versions of the program.
func (c *Store) Retry(ctx context.Context, id string, options ingest.Options) (RetryReport, error) {
	id, names, err := c.quarantineOf(ctx, id)
	report := RetryReport{Source: id}
	if err != nil {
		return report, err
	}
	for _, name := range names {
		err := c.withScratch(
			"retry-", func(dir string) error { return c.retryObject(ctx, name, dir, options, &report) },
		)
		if err != nil {
			return report, fmt.Errorf("import %s: %w", name, err)
		}
	}
	return report, nil
}

// quarantineOf returns the source with an id or its unique beginning, and the names of the objects with its rejected
// lines.
func (c *Store) quarantineOf(ctx context.Context, beginning string) (id string, names []string, err error) {
	objects := map[string][]string{}
	var ids []string
	for info, err := range c.Lake.List(ctx, bucket.QuarantineRoot+beginning, "") {
		if err != nil {
			return "", nil, err
		}
		source, _, ok := ingest.ParseQuarantineName(strings.TrimPrefix(info.Name, bucket.QuarantineRoot))
		if !ok {
			continue
		}
		if objects[source] == nil {
			ids = append(ids, source)
		}
		objects[source] = append(objects[source], info.Name)
	}
	switch {
	case objects[beginning] != nil:
		return beginning, objects[beginning], nil
	case len(ids) == 0:
		return "", nil, fault.New(fault.NotFound, "there are no lines of import %q in quarantine", beginning)
	case len(ids) > 1:
		return "", nil, fault.New(
			fault.Invalid, "several imports begin with %q: %s", beginning, strings.Join(ids, ", "),
		)
	}
	return ids[0], objects[ids[0]], nil
}

// retryObject retries the lines of one object.
func (c *Store) retryObject(
	ctx context.Context, name, dir string, options ingest.Options, report *RetryReport,
) error {
	file := filepath.Join(dir, "rejected")
	if err := c.Lake.Download(ctx, name, file); err != nil {
		return err
	}
	sum, err := bucket.FileSum(file)
	if err != nil {
		return err
	}
	base := strings.TrimSuffix(strings.TrimPrefix(name, bucket.QuarantineRoot), ".ndjson")
	list := bucket.QuarantineRoot + base + "." + sum + retriedSuffix
	retried, err := c.retriedLines(ctx, list, dir)
	if errors.Is(err, blob.ErrNotFound) {
		if err := c.convertRejected(ctx, file, name, list, dir, options); err != nil {
			return err
		}
		retried, err = c.retriedLines(ctx, list, dir)
		if errors.Is(err, blob.ErrNotFound) { // no line is a record
			retried, err = nil, nil
		}
	}
	if err != nil {
		return err
	}
	left, err := withoutLines(file, filepath.Join(dir, "left"), retried)
	if err != nil {
		return err
	}
	report.Records += int64(len(retried))
	report.Rejected += left
	if len(retried) == 0 {
		return nil
	}
	key := retriedPrefix + base + "-" + sum + ".jsonl"
	if err := c.putRecords(ctx, key, retried, dir); err != nil {
		return err
	}
	report.Logs = append(report.Logs, key)
	if left == 0 {
		return c.Lake.Delete(ctx, name)
	}
	return c.Lake.PutFile(ctx, name, filepath.Join(dir, "left"), blob.Always)
}

// retriedPrefix begins the keys of the logs of records that retries put.
const retriedPrefix = rawlog.HistoryPrefix + "quarantine/"

// recordFormat is the name of the format of records.
const recordFormat = "orrery"

// retriedSuffix ends the names of the lists of the lines that are records now.
const retriedSuffix = ".retried"

// retriedLine is a line that is a record now.
type retriedLine struct {
	Line   int64           `json:"line"`
	Record json.RawMessage `json:"record"`
}

// convertRejected converts the lines in a file and puts a list of those that are records. It puts no list if no line is
// a record, or if the list exists already.
func (c *Store) convertRejected(
	ctx context.Context, file, name, list, dir string, options ingest.Options,
) error {
	id, generation, _ := ingest.ParseQuarantineName(strings.TrimPrefix(name, bucket.QuarantineRoot))
	of, err := ledgertable.Find(ctx, c.Table, id, generation)
	if err != nil {
		return err
	}
	if options.Format == "" || options.Format == "auto" {
		options.Format = of.Format
	}
	options.From, options.Until = c.period()
	var mu sync.Mutex
	var lines []retriedLine
	retry := ingest.Retry{File: file, Generation: generation, Lines: of.Lines, Newest: of}
	retry.Keep = func(row *lake.Row) bool {
		text := record.AppendJSON(nil, row, nil)
		// A line stays if its record would not be the same in a log of records: the text of a line that is not UTF-8
		// would be lost, and a line of a log has a maximum length.
		if row.RawLine == nil && len(text) <= record.MaxLine {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, retriedLine{row.Line, text})
		}
		return false
	}
	if _, err := ingest.ConvertRejected(ctx, retry, dir, options); err != nil || len(lines) == 0 {
		return err
	}
	slices.SortFunc(lines, func(a, b retriedLine) int { return cmp.Compare(a.Line, b.Line) })
	written := filepath.Join(dir, "list")
	if err := writeLines(
		written, len(lines), func(i int) ([]byte, error) { return json.Marshal(lines[i]) },
	); err != nil {
		return err
	}
	if err := c.Lake.PutFile(ctx, list, written, blob.IfAbsent); !errors.Is(err, blob.ErrExists) {
		return err
	}
	return nil // another retry was first
}

// retriedLines reads a list.
func (c *Store) retriedLines(ctx context.Context, list, dir string) (lines []retriedLine, err error) {
	file := filepath.Join(dir, "retried-list")
	if err := c.Lake.Download(ctx, list, file); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", list, err)
	}
	for line := range bytes.Lines(text) {
		var l retriedLine
		if err := json.Unmarshal(line, &l); err != nil {
			return nil, fmt.Errorf("read %s: %w", list, err)
		}
		lines = append(lines, l)
	}
	return lines, nil
}

// putRecords puts the records as a log into the raw bucket, unless it is there already.
func (c *Store) putRecords(ctx context.Context, key string, lines []retriedLine, dir string) error {
	file := filepath.Join(dir, "records")
	if err := writeLines(file, len(lines), func(i int) ([]byte, error) { return lines[i].Record, nil }); err != nil {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("put %s: %w", key, err)
	}
	err = c.config.Raw.Put(ctx, key, f, blob.IfAbsent)
	if errors.Is(err, blob.ErrExists) {
		err = nil
	}
	return errors.Join(err, f.Close())
}

// withoutLines writes the lines of a file of rejected lines to another one, without those that are records now, and
// returns their number.
func withoutLines(from, to string, retried []retriedLine) (left int64, err error) {
	gone := map[int64]bool{}
	for _, l := range retried {
		gone[l.Line] = true
	}
	f, err := os.Create(to)
	if err != nil {
		return 0, fmt.Errorf("write lines: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	out := bufio.NewWriter(f)
	err = ingest.EachRejected(from, func(line ingest.RejectedLine, form []byte) error {
		if gone[line.Line] {
			return nil
		}
		left++
		_, err := out.Write(form)
		return err
	})
	if err != nil {
		return 0, err
	}
	return left, out.Flush()
}

// writeLines writes a file of n lines.
func writeLines(file string, n int, line func(i int) ([]byte, error)) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("write lines: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	out := bufio.NewWriter(f)
	for i := range n {
		text, err := line(i)
		if err == nil {
			_, err = out.Write(append(text[:len(text):len(text)], '\n'))
		}
		if err != nil {
			return fmt.Errorf("write lines: %w", err)
		}
	}
	return out.Flush()
}

// Release has a raw log imported that was refused or has no records: it removes what is in quarantine of it as a whole,
// and sends it again. If the log is still refused, its import writes another note. If it cannot be sent, the note is
// put back, so that the log can be found again.
func (c *Store) Release(
	ctx context.Context, key string, send func(ctx context.Context, log rawlog.Log, put time.Time) error,
) error {
	raw, err := c.config.Raw.Head(ctx, key)
	if errors.Is(err, blob.ErrNotFound) {
		return fault.Wrap(fault.NotFound, err, "there is no log %s in the raw bucket", key)
	}
	if err == nil {
		err = c.release(ctx, rawlog.Log{Key: key}, raw.Modified, send)
	}
	if err != nil {
		return fmt.Errorf("send %s again: %w", key, err)
	}
	return nil
}

func (c *Store) release(
	ctx context.Context, log rawlog.Log, put time.Time,
	send func(ctx context.Context, log rawlog.Log, put time.Time) error,
) error {
	return c.withScratch("release-", func(dir string) error {
		removed := map[string]string{} // files with what is removed, by name
		for i, name := range []string{
			bucket.RefusedRoot + log.Key + refusalSuffix, bucket.RefusedRoot + log.Key + linesSuffix,
		} {
			file := filepath.Join(dir, strconv.Itoa(i))
			err := c.Lake.Download(ctx, name, file)
			if errors.Is(err, blob.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			removed[name] = file
		}
		err := c.Lake.Delete(ctx, slices.Collect(maps.Keys(removed))...)
		if err == nil {
			err = send(ctx, log, put)
		}
		if err == nil {
			return nil
		}
		ctx := context.WithoutCancel(ctx)
		for name, file := range removed { // unless an import has written another note
			if back := c.Lake.PutFile(ctx, name, file, blob.IfAbsent); !errors.Is(back, blob.ErrExists) {
				err = errors.Join(err, back)
			}
		}
		return err
	})
}
