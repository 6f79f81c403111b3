package datadir

import (
	"archive/tar"
	"bytes"
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
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir/ledgersqlite"
	"github.com/orrery/orrery/shared/testkit/readonlytest"
)

// refused checks that the import of content is refused and changes no files. It returns the error message.
func refused(t *testing.T, s *Store, content string, options ingest.Options) string {
	t.Helper()
	before := tree(t, s.dir)
	_, err := s.Import(t.Context(), "test.log", pipe(content), options)
	if fault.KindOf(err) != fault.Invalid {
		t.Fatalf("got %v", err)
	}
	if diff := cmp.Diff(before, tree(t, s.dir)); diff != "" {
		t.Errorf("the refused import changed files:\n%s", diff)
	}
	return err.Error()
}

func TestImportRefusesCutCompressedFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: skipped with -short, for the race detector")
	}
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	known, text := lines(0, 1000), lines(0, 4000)
	forms := map[string]string{"gzip": zipped(text), "zstd": string(encoder.EncodeAll([]byte(text), nil))}
	for format, whole := range forms {
		for _, earlier := range []string{"", known} {
			t.Run(fmt.Sprintf("%s with %d known bytes", format, len(earlier)), func(t *testing.T) {
				s := openStore(t, t.TempDir())
				importText(t, s, earlier, ingest.Options{})
				got := refused(t, s, whole[:len(whole)*3/4], ingest.Options{})
				if strings.Count(got, "cut off") != 1 || !strings.Contains(got, format+" -dc") ||
					strings.Contains(got, "EOF") || strings.Contains(got, "\n") {
					t.Error(got)
				}
				report, err := s.Import(t.Context(), "test.log", pipe(whole), ingest.Options{})
				if err != nil || report.Records+report.Known != 4000 {
					t.Errorf("complete file afterwards: %+v, %v", report, err)
				}
			})
		}
	}
}

// archived returns a tar archive with a log. If old is set, its header has no mark, as before POSIX.
func archived(t *testing.T, text string, old bool) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	header := &tar.Header{Name: "access.log", Mode: 0o644, Size: int64(len(text)), Format: tar.FormatUSTAR}
	if err := w.WriteHeader(header); err != nil {
		t.Fatal(err)
	}
	_, err := w.Write([]byte(text))
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	if old {
		head := b.Bytes()[:512]
		clear(head[257:])
		copy(head[148:], "        ")
		sum := 0
		for _, c := range head {
			sum += int(c)
		}
		copy(head[148:], fmt.Sprintf("%06o\x00 ", sum))
	}
	return b.String()
}

// containerFiles returns the contents of files that are not logs, and a part of the error message for each.
func containerFiles(t *testing.T) map[string]string {
	t.Helper()
	log := strings.Repeat(`192.0.2.7 - - [17/May/2026:10:05:03 +0000] "GET / HTTP/1.1" 200 1`+"\n", 30)
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	archive := archived(t, log, false)
	return map[string]string{
		archive: "a tar archive, not a log, " +
			"and nothing of it was imported. Unpack it and import",
		archived(t, lines(0, 30), false):                    "a tar archive,",
		archived(t, log, true):                              "a tar archive,",
		zipped(archive):                                     "a tar archive, compressed with gzip, not",
		string(encoder.EncodeAll([]byte(archive), nil)):     "a tar archive, compressed with zstd, not",
		zipped(zipped(log)):                                 "a gzip file, compressed with gzip, not a log, and",
		zipped(string(encoder.EncodeAll([]byte(log), nil))): "a zstd file, compressed with gzip",
		"PK\x03\x04\x14\x00 stored\n" + log:                 "a zip archive",
		"PK\x05\x06" + strings.Repeat("\x00", 18):           "a zip archive",
		"7z\xbc\xaf\x27\x1c\x00\x04" + log:                  "a 7z archive",
		"Rar!\x1a\x07\x01\x00" + log:                        "a RAR archive",
		"\xfd7zXZ\x00\x00\x04\n" + log:                      "an xz file, not a log, and nothing of it was imported",
		zipped("BZh91AY&SY\n" + log):                        "a bzip2 file, compressed with gzip",
		"\x04\x22\x4d\x18\x64\x40\n" + log:                  "an LZ4 file",
		"\x1f\x9d\x90\n" + log:                              "a compress (.Z) file",
		"PAR1\x15\x04\n" + log:                              "a Parquet file",
		"Obj\x01\x04\n" + log:                               "an Avro file",
		"SQLite format 3\x00\x10\x00\n" + log:               "an SQLite database",
		"LPKSHHRH\x00\n" + log:                              "a systemd journal",
		"\xd4\xc3\xb2\xa1\x02\x00\x04\x00\n" + log:          "a packet capture",
		"\xa1\xb2\x3c\x4d\x00\x02\x00\x04\n" + log:          "a packet capture",
		"\n\r\r\n\x1c\x00\x00\x00\x4d\x3c\x2b\x1a" + log:    "a packet capture",
		"\xff\xfe1\x00\n\x00" + log:                         "a UTF-16 file",
	}
}

func TestImportRefusesContainers(t *testing.T) {
	for content, want := range containerFiles(t) {
		t.Run(want, func(t *testing.T) {
			s := openStore(t, t.TempDir())
			for _, format := range []string{"auto", "combined", "orrery"} {
				if got := refused(t, s, content, ingest.Options{Format: format}); !strings.Contains(got, want) {
					t.Errorf("%s: %s", format, got)
				}
			}
		})
	}
}

func TestImportLinesThatBeginLikeContainers(t *testing.T) {
	for _, host := range []string{"PK", "PAR1", "BZh9", "BZh91AY", "Rar", "7z", "SQLite", "Obj"} {
		s := openStore(t, t.TempDir())
		line := host + ` 192.0.2.7 - - [17/May/2026:10:05:03 +0000] "GET / HTTP/1.1" 200 1` + "\n"
		if report := importText(t, s, strings.Repeat(line, 20), ingest.Options{}); report.Records != 20 {
			t.Errorf("%s: %+v", host, report)
		}
	}
}

func TestImportOlderCopy(t *testing.T) {
	const all = 3000 // longer than the head
	text := strings.SplitAfter(lines(0, all), "\n")
	s := openStore(t, t.TempDir())
	importText(t, s, strings.Join(text[:1500], ""), ingest.Options{})
	importText(t, s, strings.Join(text, ""), ingest.Options{})
	for _, n := range []int{1, 10, 300} { // within the head, where the ledger can compare
		report := importText(t, s, strings.Join(text[:n], ""), ingest.Options{})
		if report.Records != 0 || report.Known != int64(n) {
			t.Errorf("%d lines: %+v", n, report)
		}
	}
	for _, n := range []int{1000, 1499, 1501, 2999} {
		if got := refused(t, s, strings.Join(text[:n], ""), ingest.Options{}); !strings.Contains(got, "older copy") {
			t.Error(got)
		}
	}
	cut := strings.Join(text[:2000], "") + text[2000][:20]
	if got := refused(t, s, cut, ingest.Options{}); !strings.Contains(got, "older copy") {
		t.Error(got)
	}
	if got := len(rowsOf(t, s)); got != all {
		t.Errorf("%d rows", got)
	}
	other := importAs(t, s, "/srv/other.log", strings.Join(text[:1000], ""))
	if other.Records != 1000 {
		t.Errorf("under another name, as the error advises: %+v", other)
	}
}

func TestImportShorterLogThatIsNotACopy(t *testing.T) {
	s := openStore(t, t.TempDir())
	importText(t, s, lines(0, 3000), ingest.Options{})
	if report := importText(t, s, lines(0, 1)+lines(7000, 5), ingest.Options{}); report.Records != 6 {
		t.Errorf("only the first line is the same: %+v", report)
	}
	if report := importText(t, s, lines(0, 1)+lines(9000, 1500), ingest.Options{}); report.Records != 1501 {
		t.Errorf("the heads differ: %+v", report)
	}
}

func TestImportRefusesTooManyHours(t *testing.T) {
	var b strings.Builder
	for hour := range ingest.MaxPartitions + 1 {
		fmt.Fprintf(&b, `{"processing_stage":6,"timestamp":%d}`+"\n", hour*3600)
	}
	s := openStore(t, t.TempDir())
	got := refused(t, s, b.String(), ingest.Options{})
	if !strings.Contains(got, "more than 20000 hours, from 1970/01/01/00 to ") {
		t.Error(got)
	}
}

// TestOpenReadOnlyDirectory: the records, the imports and the quarantine are read, and nothing can be changed.
func TestOpenReadOnlyDirectory(t *testing.T) { readonlytest.BothWays(t, openReadOnlyDirectory) }

func openReadOnlyDirectory(t *testing.T) {
	dir := t.TempDir()
	writer := openStore(t, dir)
	report := importText(t, writer, lines(0, 10)+"{broken\n", ingest.Options{})
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	readonlytest.Folder(t, dir)
	s, err := Open(t.Context(), dir, ledgersqlite.Open, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(rowsOf(t, s)); got != 10 {
		t.Errorf("%d rows", got)
	}
	imports, err := s.Imports(t.Context())
	if err != nil || len(imports) != 1 || imports[0].Records != 10 {
		t.Errorf("imports: %+v, %v", imports, err)
	}
	rejected, err := s.Quarantine(t.Context())
	if err != nil || len(rejected) != 1 || rejected[0].Lines != 1 {
		t.Errorf("quarantine: %+v, %v", rejected, err)
	}
	if found := statusOf(t, s); found.Ingest == nil || *found.Ingest.Rejected != 1 {
		t.Errorf("status: %+v", found)
	}
	_, forgotten := s.Forget(t.Context(), report.Source)
	_, retried := s.Retry(t.Context(), report.Source, ingest.Options{})
	for what, err := range map[string]error{"forget": forgotten, "retry": retried} {
		if fault.KindOf(err) != fault.ReadOnly {
			t.Errorf("%s: %v", what, err)
		}
	}
	expectReadOnly(t, s)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestReadOnlyDirectoryWithoutLedger: nothing has been imported.
func TestReadOnlyDirectoryWithoutLedger(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "lake"), 0o700); err != nil {
		t.Fatal(err)
	}
	readonlytest.Folder(t, dir)
	s := openStore(t, dir)
	if imports, err := s.Imports(t.Context()); err != nil || len(imports) > 0 {
		t.Errorf("%+v, %v", imports, err)
	}
	if found := statusOf(t, s); found.Ingest != nil {
		t.Errorf("status: %+v", found)
	}
}

// expectReadOnly checks that everything that writes returns an error.
func expectReadOnly(t *testing.T, s *Store) {
	t.Helper()
	_, imported := s.Import(t.Context(), "x", strings.NewReader(lines(0, 20)), ingest.Options{})
	_, compacted := s.Compact(t.Context(), CompactOptions{})
	watched := newWatcherTest(t, s).w.Poll(t.Context(), testTime, nil)
	for what, err := range map[string]error{"import": imported, "compact": compacted, "watch": watched} {
		if fault.KindOf(err) != fault.ReadOnly || !strings.HasPrefix(err.Error(), "the data folder is read-only") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestOpenWithoutLedger(t *testing.T) {
	dir := t.TempDir()
	writer := openStore(t, dir)
	importText(t, writer, lines(0, 10), ingest.Options{})
	// A directory cannot be opened as a database, whatever the permissions.
	ledger := filepath.Join(dir, "ledger.db")
	err := errors.Join(writer.ledger.Close(), os.Rename(ledger, ledger+".away"), os.Mkdir(ledger, 0o755))
	if err != nil {
		t.Fatal(err)
	}
	s := openStore(t, dir)
	if got := len(rowsOf(t, s)); got != 10 {
		t.Errorf("%d rows", got)
	}
	expectReadOnly(t, s)
}

func TestPreventsWriting(t *testing.T) {
	for _, err := range []error{
		fs.ErrPermission, syscall.EROFS, &fs.PathError{Op: "open", Err: syscall.EACCES},
		syscall.ENOSPC, &fs.PathError{Op: "mkdir", Err: syscall.EDQUOT}, fault.New(fault.Full, "the disk is full"),
	} {
		if !preventsWriting(fmt.Errorf("open lock: %w", err)) {
			t.Error(err)
		}
	}
	if preventsWriting(syscall.EIO) {
		t.Error("a broken disk does not make a directory read-only")
	}
}
