package ingest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/gzipped"
)

// TestLimitOfAnArchive: the content of all members together is bounded, and so is that of compressed members.
func TestLimitOfAnArchive(t *testing.T) {
	const size = 50_000
	compressed := gzipped.Of(bytes.Repeat([]byte("x"), size))
	var inTar, inZip bytes.Buffer
	toTar, toZip := tar.NewWriter(&inTar), zip.NewWriter(&inZip)
	for i := range 10 {
		err := toTar.WriteHeader(&tar.Header{Name: fmt.Sprintf("%d.gz", i), Mode: 0o644, Size: int64(len(compressed))})
		if err == nil {
			_, err = toTar.Write(compressed)
		}
		if err != nil {
			t.Fatal(err)
		}
		to, err := toZip.Create(fmt.Sprintf("%d.log", i))
		if err == nil {
			_, err = io.WriteString(to, strings.Repeat("x", size))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(toTar.Close(), toZip.Close()); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"compressed members of tar": inTar.Bytes(), "zip": inZip.Bytes()} {
		for limit, want := range map[int64]int{20 * size: 10, 3*size + 30_000: 3, size / 2: 0} {
			t.Run(fmt.Sprintf("%s with a limit of %d", name, limit), func(t *testing.T) {
				archive, _, err := OpenArchive(bytes.NewReader(content))
				if err != nil {
					t.Fatal(err)
				}
				archive.limit.bytes, archive.limit.ratio = limit, 1
				whole := 0
				for {
					member, err := archive.Next()
					if errors.Is(err, io.EOF) && want == 10 {
						break
					}
					if err == nil {
						err = readAll(member, size)
					}
					if err != nil && strings.Contains(err.Error(), "times as long as the archive") {
						if _, err := archive.Next(); err == nil {
							t.Error("the archive is read further")
						}
						break
					}
					if err != nil {
						t.Fatal(err)
					}
					whole++
				}
				if whole != want {
					t.Errorf("%d members were read, want %d", whole, want)
				}
			})
		}
	}
}

// readAll reads the text of a member.
func readAll(member Member, size int64) error {
	log, err := OpenLog(member)
	if err != nil {
		return err
	}
	n, err := io.Copy(io.Discard, log.in)
	if err == nil && n != size {
		err = fmt.Errorf("%d bytes", n)
	}
	return errors.Join(err, log.Close())
}

// brokenFile is a file on a disk that fails after some reads.
type brokenFile struct {
	*bytes.Reader
	reads *int // that succeed
}

func (f brokenFile) ReadAt(p []byte, at int64) (int, error) {
	if *f.reads--; *f.reads < 0 {
		return 0, syscall.EIO
	}
	return f.Reader.ReadAt(p, at)
}

// TestZipOnABrokenDisk: an archive that cannot be read is not taken for a damaged one, which would be refused for good.
func TestZipOnABrokenDisk(t *testing.T) {
	var content bytes.Buffer
	w := zip.NewWriter(&content)
	to, err := w.Create("a.log")
	if err == nil {
		_, err = io.WriteString(to, "a line\n")
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	for reads := 0; ; reads++ {
		left := reads
		archive, _, err := OpenArchive(brokenFile{bytes.NewReader(content.Bytes()), &left})
		var member Member
		if err == nil {
			member, err = archive.Next()
		}
		if err == nil {
			_, err = io.ReadAll(member)
		}
		if err == nil {
			if reads == 0 {
				t.Error("the archive was not read")
			}
			return
		}
		if !errors.Is(err, syscall.EIO) || fault.KindOf(err) == fault.Invalid {
			t.Errorf("after %d reads: %v", reads, err)
		}
	}
}
