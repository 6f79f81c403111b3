package ingest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/ingest/ledger/sqlite"
)

// refused imports what must be refused, and checks that nothing of it stays.
func refused(t *testing.T, s *Store, content string) string {
	t.Helper()
	before := tree(t, s.dir)
	_, err := s.Import(t.Context(), "x.log", pipe(content), Options{})
	if fault.KindOf(err) != fault.Invalid {
		t.Fatalf("got %v", err)
	}
	if diff := cmp.Diff(before, tree(t, s.dir)); diff != "" {
		t.Errorf("something was imported:\n%s", diff)
	}
	return err.Error()
}

func TestACutCompressedFileIsRefusedAndSaidOnce(t *testing.T) {
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	known, text := lines(0, 1000), lines(0, 4000)
	forms := map[string]string{"gzip": zipped(t, text), "zstd": string(encoder.EncodeAll([]byte(text), nil))}
	for format, whole := range forms {
		for _, earlier := range []string{"", known} {
			t.Run(fmt.Sprintf("%s/%d_known_bytes", format, len(earlier)), func(t *testing.T) {
				s := openStore(t, t.TempDir())
				importText(t, s, earlier, Options{})
				got := refused(t, s, whole[:len(whole)*3/4])
				if strings.Count(got, "cut off") != 1 || strings.Contains(got, "EOF") || strings.Contains(got, "\n") || !strings.Contains(got, format+" -dc") {
					t.Error(got)
				}
				report, err := s.Import(t.Context(), "x.log", pipe(whole), Options{})
				if err != nil || report.Records+report.Known != 4000 {
					t.Errorf("the whole file afterwards: %+v, %v", report, err)
				}
			})
		}
	}
}

func TestAnOlderShorterCopyIsNotCountedTwice(t *testing.T) {
	const all = 3000 // more than a head
	text := strings.SplitAfter(lines(0, all), "\n")
	s := openStore(t, t.TempDir())
	importText(t, s, strings.Join(text[:1500], ""), Options{})
	importText(t, s, strings.Join(text, ""), Options{})
	for _, n := range []int{1, 10, 300} { // within the head: known for sure
		report := importText(t, s, strings.Join(text[:n], ""), Options{})
		if report.Records != 0 || report.Known != int64(n) {
			t.Errorf("%d lines: %+v", n, report)
		}
	}
	for _, n := range []int{1000, 1499, 1501, 2999} {
		if got := refused(t, s, strings.Join(text[:n], "")); !strings.Contains(got, "older copy") {
			t.Error(got)
		}
	}
	if got := refused(t, s, strings.Join(text[:2000], "")+text[2000][:20]); !strings.Contains(got, "older copy") {
		t.Error(got)
	}
	if got := len(rowsOf(t, s)); got != all {
		t.Errorf("%d rows", got)
	}
}

func TestAShorterLogThatIsNoCopyIsImported(t *testing.T) {
	s := openStore(t, t.TempDir())
	importText(t, s, lines(0, 3000), Options{})
	if report := importText(t, s, lines(0, 1)+lines(7000, 5), Options{}); report.Records != 6 {
		t.Errorf("only the first line is the same: %+v", report)
	}
	if report := importText(t, s, lines(0, 1)+lines(9000, 1500), Options{}); report.Records != 1501 {
		t.Errorf("the heads differ: %+v", report)
	}
}

func TestALogSpreadOverTooManyHoursIsRefused(t *testing.T) {
	var b strings.Builder
	for hour := range maxPartitions + 1 {
		fmt.Fprintf(&b, `{"timestamp":%d}`+"\n", hour*3600)
	}
	s := openStore(t, t.TempDir())
	got := refused(t, s, b.String())
	if !strings.Contains(got, "more than 20000 hours, from 1970/01/01/00 to ") {
		t.Error(got)
	}
}

func TestADirectoryThatCanOnlyBeRead(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("the administrator may write everywhere")
	}
	dir := t.TempDir()
	writer := openStore(t, dir)
	importText(t, writer, lines(0, 10), Options{})
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	chmod := func(mask, mode fs.FileMode) {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			return os.Chmod(path, info.Mode()&^mask|mode)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	chmod(0o222, 0)
	defer chmod(0, 0o200)
	s, err := Open(t.Context(), dir, sqlite.Open, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(rowsOf(t, s)); got != 10 {
		t.Errorf("%d rows", got)
	}
	refuseToWrite(t, s)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// refuseToWrite checks that whatever would write says that it cannot.
func refuseToWrite(t *testing.T, s *Store) {
	t.Helper()
	_, imported := s.Import(t.Context(), "x", strings.NewReader(lines(0, 20)), Options{})
	_, compacted := s.Compact(t.Context(), CompactOptions{})
	_, watched := NewWatcher(s, Options{})
	for what, err := range map[string]error{"import": imported, "compact": compacted, "watch": watched} {
		if err == nil || !strings.Contains(err.Error(), "can be read, but not changed") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestALedgerThatCannotBeWrittenLeavesReading(t *testing.T) {
	dir := t.TempDir()
	writer := openStore(t, dir)
	importText(t, writer, lines(0, 10), Options{})
	// Nobody, whatever rights he has, can open a directory as a database.
	ledger := filepath.Join(dir, "ledger.db")
	if err := errors.Join(writer.ledger.Close(), os.Rename(ledger, ledger+".away"), os.Mkdir(ledger, 0o755)); err != nil {
		t.Fatal(err)
	}
	s := openStore(t, dir)
	if got := len(rowsOf(t, s)); got != 10 {
		t.Errorf("%d rows", got)
	}
	refuseToWrite(t, s)
}

func TestErrorsThatForbidWriting(t *testing.T) {
	for _, err := range []error{fs.ErrPermission, syscall.EROFS, &fs.PathError{Op: "open", Err: syscall.EACCES}} {
		if !forbidsWriting(fmt.Errorf("open lock: %w", err)) {
			t.Error(err)
		}
	}
	if forbidsWriting(syscall.ENOSPC) {
		t.Error("a full disk is no reason to go on as if all were well")
	}
}
