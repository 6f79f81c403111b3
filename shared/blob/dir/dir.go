// Package dir is object storage in a directory of a local disk, for tests and laptops.
package dir

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/orrery/orrery/shared/blob"
)

// inFlight is the directory of objects being written; no object may have it in its name.
const inFlight = ".in-flight"

// Store keeps each object in a file of its name. Several processes may use one directory.
type Store struct{ root string }

var _ blob.Store = (*Store)(nil)

// Open opens a directory, which is made if needed.
func Open(root string) (*Store, error) {
	if err := os.MkdirAll(filepath.Join(root, inFlight), 0o755); err != nil {
		return nil, fmt.Errorf("open object directory: %w", err)
	}
	return &Store{root: root}, nil
}

func (s *Store) path(name string) (string, error) {
	if name == "" || !fs.ValidPath(name) || strings.HasPrefix(name, inFlight) {
		return "", fmt.Errorf("object name %q: a directory cannot hold it", name)
	}
	return filepath.Join(s.root, filepath.FromSlash(name)), nil
}

// Get opens an object. Only the latest content is kept.
func (s *Store) Get(ctx context.Context, name, version string, offset int64) (io.ReadCloser, blob.Info, error) {
	if version != "" {
		return nil, blob.Info{}, fmt.Errorf("get %s: a directory keeps no versions: %w", name, blob.ErrNotFound)
	}
	f, info, err := s.open(ctx, name)
	if err != nil {
		return nil, blob.Info{}, err
	}
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return nil, blob.Info{}, errors.Join(fmt.Errorf("get %s: %w", name, err), f.Close())
	}
	return f, info, nil
}

// Head tells of an object. It reads all of it, for the sum.
func (s *Store) Head(ctx context.Context, name string) (_ blob.Info, err error) {
	f, info, err := s.open(ctx, name)
	if err != nil {
		return blob.Info{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return blob.Info{}, fmt.Errorf("read %s: %w", name, err)
	}
	info.Sum = hex.EncodeToString(sum.Sum(nil))
	return info, nil
}

func (s *Store) open(ctx context.Context, name string) (*os.File, blob.Info, error) {
	path, err := s.path(name)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, blob.Info{}, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, blob.Info{}, absent(name, err)
	}
	stat, err := f.Stat()
	if err == nil && stat.IsDir() {
		err = blob.ErrNotFound
	}
	if err != nil {
		return nil, blob.Info{}, errors.Join(fmt.Errorf("open %s: %w", name, err), f.Close())
	}
	return f, infoOf(name, stat), nil
}

// infoOf tells of a file. Contents are told apart by size and time: files are only ever replaced.
func infoOf(name string, stat fs.FileInfo) blob.Info {
	return blob.Info{Name: name, Size: stat.Size(), Modified: stat.ModTime(), ETag: fmt.Sprintf("%x-%x", stat.ModTime().UnixNano(), stat.Size())}
}

func absent(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		err = blob.ErrNotFound
	}
	return fmt.Errorf("open %s: %w", name, err)
}

// Put writes a file beside its place, makes it durable, and gives it its name.
func (s *Store) Put(ctx context.Context, name string, body io.ReadSeeker, when blob.Condition) error {
	path, err := s.path(name)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		_, err = body.Seek(0, io.SeekStart)
	}
	if err == nil {
		err = s.write(path, body, when)
	}
	if err != nil {
		return fmt.Errorf("put %s: %w", name, err)
	}
	return nil
}

func (s *Store) write(path string, body io.Reader, when blob.Condition) error {
	f, err := os.CreateTemp(filepath.Join(s.root, inFlight), "put-")
	if err != nil {
		return err
	}
	_, err = io.Copy(f, body)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close(), os.MkdirAll(filepath.Dir(path), 0o755)); err == nil {
		err = name(f.Name(), path, when)
	}
	return errors.Join(err, removed(f.Name()))
}

// name gives a file its name: by rename, or, if nothing may be there, by a link.
func name(from, to string, when blob.Condition) error {
	if when == blob.Always {
		return os.Rename(from, to)
	}
	err := os.Link(from, to)
	if errors.Is(err, fs.ErrExist) {
		return blob.ErrExists
	}
	return err
}

// Copy writes a second file.
func (s *Store) Copy(ctx context.Context, from, to string) (err error) {
	f, _, err := s.open(ctx, from)
	if err != nil {
		return fmt.Errorf("copy: %w", err)
	}
	return errors.Join(s.Put(ctx, to, f, blob.IfAbsent), f.Close())
}

// List walks the directory.
func (s *Store) List(ctx context.Context, prefix, after string) iter.Seq2[blob.Info, error] {
	return func(yield func(blob.Info, error) bool) {
		infos, err := s.list(ctx, prefix, after)
		if err != nil {
			yield(blob.Info{}, fmt.Errorf("list %s: %w", prefix, err))
			return
		}
		for _, info := range infos {
			if !yield(info, nil) {
				return
			}
		}
	}
}

func (s *Store) list(ctx context.Context, prefix, after string) (infos []blob.Info, err error) {
	err = filepath.WalkDir(s.root, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed meanwhile
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		relative, err := filepath.Rel(s.root, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(relative)
		if entry.IsDir() {
			if name == inFlight || !strings.HasPrefix(name+"/", prefix) && !strings.HasPrefix(prefix, name+"/") && name != "." {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasPrefix(name, prefix) || name <= after {
			return nil
		}
		stat, err := entry.Info()
		if err == nil {
			infos = append(infos, infoOf(name, stat))
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	})
	slices.SortFunc(infos, func(a, b blob.Info) int { return strings.Compare(a.Name, b.Name) })
	return infos, err
}

// Delete removes files; empty directories stay.
func (s *Store) Delete(ctx context.Context, names ...string) error {
	for _, name := range names {
		path, err := s.path(name)
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if err := removed(path); err != nil {
			return fmt.Errorf("delete %s: %w", name, err)
		}
	}
	return nil
}

func removed(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
