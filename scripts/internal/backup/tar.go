package backup

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/orrery/orrery/shared/filelock"
	"github.com/orrery/orrery/shared/ingest/datadir/manifest"
	"github.com/orrery/orrery/shared/lake"
)

// ToFile writes a backup of a data folder into a tar file, which replaces an existing one when it is complete.
func ToFile(ctx context.Context, data, to string, o Options) (report Report, err error) {
	if err := notIn(data, to); err != nil {
		return report, err
	}
	own, err := filelock.OwnFolder(to + ".tmp")
	if err != nil {
		return report, full(err, to)
	}
	defer func() {
		err = full(errors.Join(err, own.Remove()), to)
		_ = os.Remove(to + ".tmp") // it fails if another backup is being written
	}()
	next := filepath.Join(own.Path, "backup.tar")
	file, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return report, err
	}
	report, err = toTar(ctx, data, file, own.Path, o)
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return report, err
	}
	o.step("before the file is renamed")
	if err := os.Rename(next, to); err != nil {
		return report, err
	}
	return report, manifest.SyncDir(filepath.Dir(to))
}

// ToStream writes a backup of a data folder as a tar file to a stream.
func ToStream(ctx context.Context, data string, to io.Writer, o Options) (report Report, err error) {
	scratch, err := os.MkdirTemp("", "orrery-backup-*")
	if err != nil {
		return report, err
	}
	defer func() { err = full(errors.Join(err, os.RemoveAll(scratch)), scratch) }()
	out := &stream{Writer: to}
	if report, err = toTar(ctx, data, out, scratch, o); out.failed {
		err = full(err, "standard output")
	}
	return report, err
}

// stream is a stream that remembers whether it has failed.
type stream struct {
	io.Writer
	failed bool
}

func (s *stream) Write(b []byte) (int, error) {
	n, err := s.Writer.Write(b)
	s.failed = s.failed || err != nil
	return n, err
}

func toTar(ctx context.Context, data string, to io.Writer, scratch string, o Options) (Report, error) {
	t := &archive{to: tar.NewWriter(to), folder: filepath.Join(scratch, "state"), options: o}
	if err := os.Mkdir(t.folder, 0o700); err != nil {
		return Report{}, err
	}
	report, err := take(ctx, data, t, o)
	report.Copied, report.Bytes = t.objects, t.bytes
	return report, err
}

// archive is a tar file that is written.
type archive struct {
	to      *tar.Writer
	folder  string
	options Options
	now     Manifest
	objects int
	bytes   int64 // of the objects
	total   int64
}

func (a *archive) scratch() string { return a.folder }

func (a *archive) prepare(in Manifest, total int64) error {
	a.now, a.total = in, total
	return nil
}

func (a *archive) put(ctx context.Context, name, file string) error {
	_, err := a.add(ctx, name, file)
	return err
}

func (a *archive) object(ctx context.Context, o lake.Object, file string) error {
	bytes, err := a.add(ctx, lakeName+"/"+o.Path, file)
	if errors.Is(err, fs.ErrNotExist) {
		return errMissing
	}
	if err != nil {
		return err
	}
	a.objects++
	if a.bytes += bytes; a.options.Progress != nil {
		a.options.Progress(a.bytes, a.total)
	}
	return nil
}

// add adds a file, and returns its size.
func (a *archive) add(ctx context.Context, name, file string) (int64, error) {
	from, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer func() { _ = from.Close() }() // it was only read
	info, err := from.Stat()
	if err != nil {
		return 0, err
	}
	if err := a.header(name, info.Size(), info.ModTime()); err != nil {
		return 0, err
	}
	entry, err := copyTo(ctx, a.to, from)
	if err != nil {
		return 0, fmt.Errorf("copy %s: %w", name, err)
	}
	entry.Path, entry.Modified = name, info.ModTime().UTC()
	a.now.Files = append(a.now.Files, entry)
	return entry.Bytes, nil
}

func (a *archive) header(name string, size int64, modified time.Time) error {
	return a.to.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, ModTime: modified.Truncate(time.Second),
	})
}

func (a *archive) finish() error {
	raw, err := json.Marshal(a.now)
	if err != nil {
		return err
	}
	if err := a.header(manifestName, int64(len(raw)), a.now.At); err != nil {
		return err
	}
	if _, err := a.to.Write(raw); err != nil {
		return err
	}
	return a.to.Close()
}

// maxManifest is the maximum size of a manifest that is read from a tar file.
const maxManifest = 1 << 30

// eachInTar calls visit with each file of a tar file, and returns the manifest at its end.
func eachInTar(name string, from io.Reader, visit visitor) (Manifest, error) {
	in := tar.NewReader(from)
	cutOff := fmt.Errorf("%s is cut off, or is no backup: it does not end in %s", name, manifestName)
	for {
		header, err := in.Next()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return Manifest{}, cutOff
		}
		if err != nil {
			return Manifest{}, fmt.Errorf("%s is no backup: %w", name, err)
		}
		if header.Name == manifestName {
			var raw bytes.Buffer
			if _, err := io.Copy(&raw, io.LimitReader(in, maxManifest)); err != nil {
				return Manifest{}, fmt.Errorf("%s: read %s: %w", name, manifestName, err)
			}
			return parseManifest(name, raw.Bytes())
		}
		if header.Typeflag != tar.TypeReg {
			continue // folders, if another program has packed the files again
		}
		if err := allowed(header.Name); err != nil {
			return Manifest{}, fmt.Errorf("%s is no backup: %w", name, err)
		}
		err = visit(header.Name, in)
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return Manifest{}, cutOff
		}
		if err != nil {
			return Manifest{}, err
		}
	}
}
