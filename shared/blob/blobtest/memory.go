package blobtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/orrery/orrery/shared/blob"
)

// Memory is a blob.Store in memory.
type Memory struct {
	Now func() time.Time // clock for the times of objects; nil for time.Now

	mu      sync.Mutex
	objects map[string]object
}

type object struct {
	content []byte
	info    blob.Info
}

var (
	_ blob.Store  = (*Memory)(nil)
	_ blob.Ranges = (*Memory)(nil)
)

func (m *Memory) find(ctx context.Context, name string) (object, error) {
	if err := ctx.Err(); err != nil {
		return object{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	o, ok := m.objects[name]
	if !ok {
		return object{}, fmt.Errorf("get %s: %w", name, blob.ErrNotFound)
	}
	return o, nil
}

// Get opens an object. It keeps no versions and ignores the one asked for.
func (m *Memory) Get(ctx context.Context, name, _ string, offset int64) (io.ReadCloser, blob.Info, error) {
	o, err := m.find(ctx, name)
	if err != nil {
		return nil, blob.Info{}, err
	}
	o.info.Sum = ""
	return io.NopCloser(bytes.NewReader(o.content[offset:])), o.info, nil
}

// GetRange opens a part of an object.
func (m *Memory) GetRange(
	ctx context.Context, name, etag string, offset, length int64,
) (io.ReadCloser, error) {
	o, err := m.find(ctx, name)
	if err != nil {
		return nil, err
	}
	if o.info.ETag != etag {
		return nil, fmt.Errorf("get %s: %w", name, blob.ErrChanged)
	}
	return io.NopCloser(bytes.NewReader(o.content[offset : offset+length])), nil
}

// Head describes an object.
func (m *Memory) Head(ctx context.Context, name string) (blob.Info, error) {
	o, err := m.find(ctx, name)
	return o.info, err
}

// Put writes an object.
func (m *Memory) Put(ctx context.Context, name string, body io.ReadSeeker, when blob.Condition) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, err := body.Seek(0, io.SeekStart); err != nil {
		return err
	}
	content, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	return m.write(name, content, when)
}

func (m *Memory) write(name string, content []byte, when blob.Condition) error {
	sum := sha256.Sum256(content)
	now := time.Now
	if m.Now != nil {
		now = m.Now
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, exists := m.objects[name]; exists && when == blob.IfAbsent {
		return fmt.Errorf("put %s: %w", name, blob.ErrExists)
	}
	if m.objects == nil {
		m.objects = map[string]object{}
	}
	text := hex.EncodeToString(sum[:])
	m.objects[name] = object{content, blob.Info{
		Name:     name,
		Size:     int64(len(content)),
		ETag:     text,
		Sum:      text,
		Modified: now(),
	}}
	return nil
}

// Copy copies an object.
func (m *Memory) Copy(ctx context.Context, from, to string) error {
	o, err := m.find(ctx, from)
	if err != nil {
		return err
	}
	return m.write(to, o.content, blob.IfAbsent)
}

// List lists the objects that exist when it begins.
func (m *Memory) List(ctx context.Context, prefix, after string) iter.Seq2[blob.Info, error] {
	return func(yield func(blob.Info, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(blob.Info{}, err)
			return
		}
		m.mu.Lock()
		objects := maps.Clone(m.objects)
		m.mu.Unlock()
		for _, name := range slices.Sorted(maps.Keys(objects)) {
			if strings.HasPrefix(name, prefix) && name > after && !yield(objects[name].info, nil) {
				return
			}
		}
	}
}

// Delete removes objects.
func (m *Memory) Delete(ctx context.Context, names ...string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range names {
		delete(m.objects, name)
	}
	return nil
}
