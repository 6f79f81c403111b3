package datadir

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/ingesttest"
)

// archiveMember is a file of an archive.
type archiveMember struct{ name, text string }

func tarOf(t *testing.T, members ...archiveMember) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range members {
		header := &tar.Header{Name: m.name, Mode: 0o644, Size: int64(len(m.text))}
		if strings.HasSuffix(m.name, "/") {
			header.Typeflag = tar.TypeDir
		}
		err := w.WriteHeader(header)
		if err == nil {
			_, err = io.WriteString(w, m.text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zipOf(t *testing.T, members ...archiveMember) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, m := range members {
		f, err := w.Create(m.name)
		if err == nil {
			_, err = io.WriteString(f, m.text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// importAll imports a file with this content, and returns the records of each log by its name, and the error.
func importAll(t *testing.T, s *Store, path, content string) (map[string]int64, error) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	records := map[string]int64{}
	options := ingest.Options{Path: path, Growing: true}
	err = s.ImportAll(t.Context(), filepath.Base(path), f, options, func(name string, r ingest.Report, err error) {
		records[name] = r.Records
		if err != nil {
			records[name] = -1
		}
	})
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return records, err
}

func TestImportArchives(t *testing.T) {
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	members := []archiveMember{
		{"web1/", ""},
		{"web1/access.log", ingesttest.Text("a b")},
		{"web1/.DS_Store", "\x00\x01"},
		{"__MACOSX/web1/access.log", "\x00\x05"},
		{"./web2/access.log.1.gz", zipped(ingesttest.Text("c"))},
		{"empty.log", ""},
		{"../../srv/web3\\access.log", strings.TrimSuffix(ingesttest.Text("d e f"), "\n")},
	}
	plain := tarOf(t, members...)
	for name, content := range map[string]string{
		"logs.tar":     plain,
		"logs.tar.gz":  zipped(plain),
		"logs.tar.zst": string(encoder.EncodeAll([]byte(plain), nil)),
		"logs.zip":     zipOf(t, members...),
	} {
		t.Run(name, func(t *testing.T) {
			s := openStore(t, t.TempDir())
			got, err := importAll(t, s, filepath.Join(t.TempDir(), name), content)
			want := map[string]int64{
				name + "/web1/access.log": 2, name + "/web2/access.log.1.gz": 1, name + "/empty.log": 0,
				name + "/srv/web3/access.log": 3,
			}
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			if rows := (testLake{s}).Rows(t); len(rows) != 6 {
				t.Errorf("rows %v", rows)
			}
		})
	}
	t.Run("a tar archive may come from a pipe", func(t *testing.T) {
		s := openStore(t, t.TempDir())
		t.Chdir(t.TempDir())
		records := int64(0)
		err := s.ImportAll(t.Context(), "standard input", io.MultiReader(strings.NewReader(zipped(plain))),
			ingest.Options{}, func(_ string, r ingest.Report, _ error) { records += r.Records })
		if err != nil || records != 6 {
			t.Errorf("%d records, %v", records, err)
		}
	})
}

// TestArchiveOfAnImportedLogIsNoticed: a log that is also in an archive, under another name, counts as another log. Its
// records would be counted twice, so an import that a person starts stops.
func TestArchiveOfAnImportedLogIsNoticed(t *testing.T) {
	for _, name := range []string{"copy.tar", "copy.zip"} {
		t.Run(name, func(t *testing.T) {
			s := openStore(t, t.TempDir())
			text := lines(0, 100)
			source := importFile(t, s, "access.log", text, ingest.Options{}).Source
			member := archiveMember{"old/access-copy.log", text}
			content := tarOf(t, member)
			if name == "copy.zip" {
				content = zipOf(t, member)
			}
			path := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			err = s.ImportAll(t.Context(), name, f, ingest.Options{Path: path, Cautious: true},
				func(string, ingest.Report, error) {})
			var doubt *ingest.UnconfirmedError
			if !errors.As(err, &doubt) || !strings.Contains(err.Error(), source) || len(rowsOf(t, s)) != 100 {
				t.Errorf("%d rows, %v", len(rowsOf(t, s)), err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestImportBzip2(t *testing.T) {
	// The record {"processing_stage":6,"timestamp":"2026-03-01T10:00:00Z","request_id":"a"}, as the program bzip2
	// compresses it.
	text, err := base64.StdEncoding.DecodeString(bzip2Record)
	if err != nil {
		t.Fatal(err)
	}
	s := openStore(t, t.TempDir())
	if report := importText(t, s, string(text), ingest.Options{}); report.Records != 1 {
		t.Errorf("%+v", report)
	}
	cut := string(text[:len(text)-4])
	if got := refused(t, s, cut, ingest.Options{}); !strings.Contains(got, "the bzip2 file is cut off") {
		t.Error(got)
	}
	damaged := strings.Replace(string(text), string(text[30:32]), "\x00\x00", 1)
	if got := refused(t, s, damaged, ingest.Options{}); !strings.Contains(got, "the bzip2 file is damaged") {
		t.Error(got)
	}
}

// bzip2Record is the compressed record of TestImportBzip2.
const bzip2Record = "QlpoOTFBWSZTWYElkR0AACTbgAAQEAZ5EAQQrqP+CiAASGqemk9QA/UQaGnqFNABMRgEzR88qSmr4CeJKMNChIkl6BmUKEth9zGA" +
	"8pGvb+1ntwuQDV+YDSzkaBioETdF3JFOFCQgSWRHQA=="

// TestArchivesAndLogsAreIdentifiedEqually imports logs plain and in archives in every order. A member is the log that
// unpacking the archive in its folder results in.
func TestArchivesAndLogsAreIdentifiedEqually(t *testing.T) {
	log, more := ingesttest.Text("a b"), ingesttest.Text("a b c")
	for name, test := range map[string]struct {
		files []archiveMember // path and content
		want  int             // records
	}{
		"plain, then in an archive": {[]archiveMember{
			{"web1/access.log", log}, {"web1/old.tar", tarOf(t, archiveMember{"access.log", log})},
		}, 2},
		"in an archive, then plain": {[]archiveMember{
			{"old.tar", tarOf(t, archiveMember{"web1/access.log.1", log})}, {"web1/access.log", more},
		}, 3},
		"in two archives": {[]archiveMember{
			{"a.tar", tarOf(t, archiveMember{"access.log", log})}, {"b.zip", zipOf(t, archiveMember{"access.log", more})},
		}, 3},
		"twice in an archive": {[]archiveMember{
			{"a.tar", tarOf(t, archiveMember{"access.log", log}, archiveMember{"access.log", more})},
		}, 3},
		"in an archive in another folder": {[]archiveMember{
			{"web1/access.log", log}, {"web2/old.tar", tarOf(t, archiveMember{"access.log", log})},
		}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := openStore(t, t.TempDir()), t.TempDir()
			for _, file := range test.files {
				if _, err := importAll(t, s, filepath.Join(dir, file.name), file.text); err != nil {
					t.Fatal(err)
				}
			}
			total := 0
			for _, n := range (testLake{s}).Rows(t) {
				total += n
			}
			if total != test.want {
				t.Errorf("%d records, want %d", total, test.want)
			}
		})
	}
}

func TestImportRefusesBadArchives(t *testing.T) {
	log := archiveMember{"b.log", ingesttest.Text(strings.Repeat("a ", 100))}
	inner := archiveMember{"inner.tar", tarOf(t, log)}
	whole := tarOf(t, archiveMember{"a.log", ingesttest.Text("a")}, log)
	stored := zipOf(t, archiveMember{"a.log", ingesttest.Text("a")}, log)
	encrypted := []byte(stored)
	entry := bytes.LastIndex(encrypted, []byte("PK\x01\x02")) // of the last member, in the directory
	encrypted[entry+8] |= 1
	damaged := []byte(stored)
	damaged[bytes.Index(damaged, []byte("a.log"))+10] ^= 0xff
	for name, test := range map[string]struct {
		content string
		records map[string]int64 // of each log, -1 if it is refused; nil if that depends on the compression
		want    string
	}{
		"cut off in a member": {
			whole[:len(whole)-2048-1024], map[string]int64{"x/a.log": 1, "x/b.log": -1, "x": -1},
			"import x/b.log: read: the archive is cut off",
		},
		"compressed and cut off": {
			zipped(whole)[:len(zipped(whole))-20], nil, "the archive is cut off: its end is missing. The logs",
		},
		"an archive in an archive": {
			tarOf(t, log, inner), map[string]int64{"x/b.log": 100, "x/inner.tar": -1},
			"import x/inner.tar: this is a tar archive, not a log",
		},
		"a member of no known format": {
			tarOf(t, archiveMember{"notes.txt", "hello\n"}, log), map[string]int64{"x/b.log": 100, "x/notes.txt": -1},
			"import x/notes.txt: the first line does not look like",
		},
		"compressed and damaged": {
			zipped(whole)[:len(zipped(whole))-8] + "12345678", nil, "the archive is damaged; import an intact copy",
		},
		"a sparse member": {
			sparseTar(t, sparseGNU), map[string]int64{"x/s.log": -1}, "import x/s.log: read: the file has holes",
		},
		"a sparse member in the form of PAX": {
			sparseTar(t, sparsePAX), map[string]int64{"x/s.log": -1}, "import x/s.log: read: the file has holes",
		},
		"an encrypted member": {
			string(encrypted), map[string]int64{"x/a.log": 1, "x/b.log": -1}, "import x/b.log: read: the member is encrypted",
		},
		"a damaged member": {
			string(damaged), map[string]int64{"x/a.log": -1, "x/b.log": 100}, "import x/a.log: read: the archive is damaged",
		},
		"a zip archive that is cut off": {
			stored[:len(stored)-10], map[string]int64{"x": -1}, "import x: the archive is damaged",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := openStore(t, t.TempDir())
			records, err := importAll(t, s, filepath.Join(t.TempDir(), "x"), test.content)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
			if diff := cmp.Diff(test.records, records); diff != "" && test.records != nil {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("a zip archive that is not a file", func(t *testing.T) {
		s := openStore(t, t.TempDir())
		err := s.ImportAll(t.Context(), "x", io.MultiReader(strings.NewReader(stored)), ingest.Options{},
			func(string, ingest.Report, error) {})
		if err == nil || !strings.Contains(err.Error(), "this is a zip archive, not a log") {
			t.Error(err)
		}
	})
	t.Run("more members than the limit", func(t *testing.T) {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		var errs []error
		for i := range ingest.MaxMembers + 1 {
			errs = append(errs, w.WriteHeader(&tar.Header{Name: fmt.Sprintf("%d.log", i), Mode: 0o644}))
		}
		if err := errors.Join(append(errs, w.Close())...); err != nil {
			t.Fatal(err)
		}
		archive, _, err := ingest.OpenArchive(bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for err == nil {
			if _, err = archive.Next(); err == nil {
				n++
			}
		}
		if n != ingest.MaxMembers || !strings.Contains(err.Error(), "more than 10000 members") {
			t.Errorf("%d members, %v", n, err)
		}
	})
}

// sparseGNU and sparsePAX are archives of a file of 200 kB with a hole, as tar -S makes them in both of its forms,
// compressed with gzip.
const (
	sparseGNU = "H4sIAAAAAAACA+3ZQQuCMBTA8Z37FLJzxqZzgV+jTl1CSEJILJ2Xou/eFEEysENUl/+PwXu8vcfgXdesTtVRfJfyrDF99CZR28RaoRM" +
		"dJXFsTFePlFZrEWzED7SNy+ogEHVVubm+d/cfbWeykTG3TxvrNzXUx3yYnX9gGHiRLQQAAAAAAAAAAAAAwLtJV5R547LyLFMZqciGKg6V3m" +
		"qVqu7s5FLW+aX1Pfvi4Huu8s6fKwAA+KMHxB7CiwAoAAA="
	sparsePAX = "H4sIAAAAAAACA+3ZzUvDMBjH8Z7zV4yeXZekTfYCu6onEdSLFwksSGVdZ9rBmPi/mxUPo4cJMoYv3w+BwJPn0PL0l0uz0a3bXnu38KEZ" +
		"Ndmyfk5OTka2KLo96u9SFXmijNImz4tiX1dK5yYZbJMz2DStC/FRkv9J68HVzUPWrF1ofFa5lzrMlehVy1WsSqHNYXXlKj/vvhiRy8OD4N2yKX" +
		"d+ruNsTSES/FzZKE7urhvcZbn0mZ5YY058ERzPvxoba3v5N3qskoE8Z/5DXbfH+r4677/cL5ELKQo5tUJNrZUTESdgxWdwJdH98xwzBgAAAAAA" +
		"AAAAAIDOW9qWlW9aV63TWaqltkOZD6W6V3Im9+sxvUiDf93EnqdyEXt26Tv/XAEAAAAAAAAAAAAAAAAAAPBNH22TPxgAUAAA"
)

func sparseTar(t *testing.T, encoded string) string {
	t.Helper()
	text, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// tarAt returns an archive of logs that were last changed at a time.
func tarAt(t *testing.T, changed time.Time, members ...archiveMember) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range members {
		err := w.WriteHeader(&tar.Header{Name: m.name, Mode: 0o644, Size: int64(len(m.text)), ModTime: changed})
		if err == nil {
			_, err = io.WriteString(w, m.text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestMembersArriveWhenTheyWereChanged: the horizon of a log in an archive is that of the log.
func TestMembersArriveWhenTheyWereChanged(t *testing.T) {
	at := testTime.AddDate(0, 0, -60)
	log := archiveMember{"a.log", `{"processing_stage":6,"timestamp":"` + at.UTC().Format(time.RFC3339) + `"}` + "\n"}
	for name, test := range map[string]struct {
		changed time.Time
		records int64
	}{
		"changed then":               {at.AddDate(0, 0, 1), 1},
		"changed long after":         {at.AddDate(0, 0, 40), 0},
		"changed after the archive":  {testTime.AddDate(0, 0, 1), 0},
		"changed at an unknown time": {time.Unix(0, 0), 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := openStore(t, t.TempDir())
			options := ingest.Options{Horizon: ingest.DefaultHorizon, Arrival: testTime}
			records := int64(0)
			err := s.ImportAll(t.Context(), "x.tar", strings.NewReader(tarAt(t, test.changed, log)), options,
				func(_ string, r ingest.Report, _ error) { records += r.Records })
			if err != nil || records != test.records {
				t.Errorf("%d records, %v", records, err)
			}
		})
	}
}

// TestCompleteThroughOfAnArchive: an archive is handed in as a whole.
func TestCompleteThroughOfAnArchive(t *testing.T) {
	s, set := clocked(t, t.TempDir())
	archive := tarOf(t, archiveMember{"a.log", ingesttest.Text("a")}, archiveMember{"b.log", ingesttest.Text("b")})
	logs := 0
	err := s.ImportAll(t.Context(), "x.tar", strings.NewReader(archive), ingest.Options{},
		func(string, ingest.Report, error) {
			logs++
			set(60 * logs)
			if got := through(t, s); got != 0 {
				t.Errorf("after %d logs: complete through %v", logs, got)
			}
		})
	if got := through(t, s); err != nil || logs != 2 || got != 120 {
		t.Errorf("after %d logs: complete through %v, %v", logs, got, err)
	}
}

// TestQuarantineOfAnArchiveIsBounded: its logs have the space of one log together.
func TestQuarantineOfAnArchiveIsBounded(t *testing.T) {
	s := openStore(t, t.TempDir())
	var members []archiveMember
	for i := range 5 {
		text := lines(10*i, 1) + strings.Repeat("garbage\n", 10)
		members = append(members, archiveMember{string(rune('a'+i)) + ".log", text})
	}
	unsaved := int64(0)
	err := s.ImportAll(t.Context(), "x.tar", strings.NewReader(tarOf(t, members...)), ingest.Options{QuarantineLimit: 2500},
		func(_ string, r ingest.Report, _ error) { unsaved += r.Unsaved })
	files, listing := s.quarantineFiles("")
	size := int64(0)
	for _, f := range files {
		size += f.size
	}
	saved := int64(len(quarantinedLines(t, s)))
	if err != nil || listing != nil || size > 2500 || size < 2000 || saved+unsaved != 50 {
		t.Errorf("%d bytes, %d lines and %d unsaved ones, %v", size, saved, unsaved, errors.Join(err, listing))
	}
}

func TestWatchImportsArchives(t *testing.T) {
	s := openStore(t, t.TempDir())
	w := newWatcherTest(t, s)
	w.write("web1/logs.tar", tarOf(t,
		archiveMember{"a.log", ingesttest.Text("a")}, archiveMember{"notes.txt", "hello\n"},
		archiveMember{"b.log", ingesttest.Text("b c")}))
	w.expect(0, map[string]int64{})
	w.expect(SettleTime, map[string]int64{
		"web1/logs.tar/a.log": 1, "web1/logs.tar/notes.txt": -1, "web1/logs.tar/b.log": 2,
	})
	w.expect(SettleTime, map[string]int64{})
}
