// Package bucket has the objects in the bucket of a lake: their names, copies that are verified, and plans of hours.
package bucket

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/orrery/orrery/shared/blob"
)

// Lake is the bucket of a lake.
type Lake struct{ blob.Store }

// LocalCopy is a local copy of an object.
type LocalCopy struct{ Name, Path string }

// PutFile puts a local file into the bucket of the lake.
func (l Lake) PutFile(ctx context.Context, name, path string, when blob.Condition) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("put %s: %w", name, err)
	}
	return errors.Join(l.Put(ctx, name, f, when), f.Close())
}

// Download copies an object to a local file.
func (l Lake) Download(ctx context.Context, name, file string) (err error) {
	r, err := blob.Open(ctx, l, name, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("download %s: %w", name, err)
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}

// ReadJSON reads an object in JSON.
func (l Lake) ReadJSON(ctx context.Context, name string, into any) error {
	text, err := l.contentOf(ctx, name)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}

// contentOf returns the content of an object of the lake's bucket that fits into memory.
func (l Lake) contentOf(ctx context.Context, name string) ([]byte, error) {
	r, err := blob.Open(ctx, l, name, "")
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(r)
	return text, errors.Join(err, r.Close())
}

// CopyTo copies an object. An existing object with the new name is not an error.
func (l Lake) CopyTo(ctx context.Context, from, to string) error {
	if err := l.Copy(ctx, from, to); err != nil && !errors.Is(err, blob.ErrExists) {
		return err
	}
	return nil
}

// CopyVerified copies an object and compares the copy with the original.
func (l Lake) CopyVerified(ctx context.Context, from, to string) error {
	info, err := l.Head(ctx, from)
	if err == nil && info.Sum == "" {
		info.Sum, err = l.Sum(ctx, from)
	}
	if err == nil {
		err = l.CopyTo(ctx, from, to)
	}
	if err != nil {
		return err
	}
	return l.Verify(ctx, to, info.Size, info.Sum)
}

// Verify compares the size and the SHA-256 of an object in the bucket with the expected ones. It reads the object only
// if the store does not report the SHA-256 that it computed when the object was written.
func (l Lake) Verify(ctx context.Context, name string, size int64, sum string) error {
	info, err := l.Head(ctx, name)
	if err == nil && info.Sum == "" {
		info.Sum, err = l.Sum(ctx, name)
	}
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	if info.Size != size || info.Sum != sum {
		return fmt.Errorf("verify %s: it has %d bytes with SHA-256 %s, want %d bytes with %s: %w",
			name, info.Size, info.Sum, size, sum, ErrDiffers)
	}
	return nil
}

// ErrDiffers means that an object has not the content that was written.
var ErrDiffers = errors.New("its content was changed")

// PutAgain replaces the changed content of an object by that of a file.
func (l Lake) PutAgain(ctx context.Context, name, file string, size int64, sum string) error {
	if err := l.PutFile(ctx, name, file, blob.Always); err != nil {
		return err
	}
	return l.Verify(ctx, name, size, sum)
}

// Sum returns the SHA-256 of the content of an object.
func (l Lake) Sum(ctx context.Context, name string) (string, error) {
	r, err := blob.Open(ctx, l, name, "")
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(h, r)
	return hex.EncodeToString(h.Sum(nil)), errors.Join(err, r.Close())
}

// FileSum returns the SHA-256 of the content of a local file.
func FileSum(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("read staged file: %w", err)
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), errors.Join(err, f.Close())
}
