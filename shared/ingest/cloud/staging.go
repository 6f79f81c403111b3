package cloud

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
)

// stagingArea holds the objects of one attempt at an import, in the bucket of the lake under a prefix that no reader
// reads. Objects are put there one by one as they are created, so that the local disk holds few of them. Once the
// import is committed, any process can publish them.
type stagingArea struct {
	cloud   *Store
	attempt string
	began   time.Time
	arrived time.Time // when the log was put into the raw bucket

	unlisted atomic.Int32 // objects of which the lists of values could not be put

	mu      sync.Mutex
	list    stagingIndex
	columns lakestate.ColumnsByHour // of all objects
}

// stagingIndex is the content of <attempt>/objects.json.
type stagingIndex struct {
	Objects    []stagedObject `json:"objects"`
	Quarantine string         `json:"quarantine,omitempty"` // final name of quarantine.ndjson
	// Columns are the sizes of the columns of the objects of the newest hours.
	Columns lakestate.ColumnsByHour `json:"columns,omitempty"`
}

type stagedObject struct {
	Staged    string         `json:"staged"` // file in the folder of the attempt
	Name      string         `json:"name"`   // below lake/, if the hour is not closed
	Partition lake.Partition `json:"partition"`
	Bytes     int64          `json:"bytes"`
	Sum       string         `json:"sha256"`
	Listed    bool           `json:"listed,omitempty"` // the lists of its values are staged, too
}

const (
	stagingIndexFile      = "objects.json"
	stagingQuarantineFile = "quarantine.ndjson"
)

func (s *stagingArea) name(file string) string { return stagingRoot + s.attempt + "/" + file }

// add puts an object into the bucket, compares it with its file, and removes the file. It also puts the lists of the
// object's values, unless that fails.
func (s *stagingArea) add(ctx context.Context, file string, object lake.Object) error {
	sum, err := fileSum(file)
	if err != nil {
		return err
	}
	o := stagedObject{
		Staged:    filepath.Base(file),
		Name:      object.Path,
		Partition: object.Partition,
		Bytes:     object.Bytes,
		Sum:       sum,
	}
	if err := s.cloud.putFile(ctx, s.name(o.Staged), file, blob.Always); err != nil {
		return err
	}
	if err := s.cloud.verify(ctx, s.name(o.Staged), o.Bytes, o.Sum); err != nil {
		return err
	}
	s.stageLists(ctx, &o, file)
	if err := os.Remove(file); err != nil {
		return fmt.Errorf("remove staged file: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list.Objects = append(s.list.Objects, o)
	if s.columns == nil {
		s.columns = lakestate.ColumnsByHour{}
	}
	s.columns.Add(o.Partition, o.Bytes, object.ColumnBytes)
	return nil
}

// quarantine stages the rejected lines. They get the name when the import is published.
func (s *stagingArea) quarantine(ctx context.Context, file, name string) error {
	s.list.Quarantine = name
	return s.cloud.putFile(ctx, s.name(stagingQuarantineFile), file, blob.Always)
}

// writeIndex writes the list of the staged objects for the process that publishes them.
func (s *stagingArea) writeIndex(ctx context.Context) error {
	s.list.Columns = s.columns.Newest(math.MinInt64)
	text, err := json.Marshal(s.list)
	if err != nil {
		return fmt.Errorf("write list of staged objects: %w", err)
	}
	return s.cloud.lake.Put(ctx, s.name(stagingIndexFile), bytes.NewReader(text), blob.Always)
}

// remove removes everything that is staged. The attempt must be published, or must never be committed.
func (s *stagingArea) remove(ctx context.Context) error { return s.cloud.removeStaged(ctx, s.attempt) }

func (c *Store) removeStaged(ctx context.Context, attempt string) error {
	var names []string
	for info, err := range c.lake.List(ctx, stagingRoot+attempt+"/", "") {
		if err != nil {
			return err
		}
		names = append(names, info.Name)
	}
	return c.lake.Delete(ctx, names...)
}

// verify compares the size and the SHA-256 of an object in the bucket with the expected ones. It reads the object only
// if the store does not report the SHA-256 that it computed when the object was written.
func (c *Store) verify(ctx context.Context, name string, size int64, sum string) error {
	info, err := c.lake.Head(ctx, name)
	if err == nil && info.Sum == "" {
		info.Sum, err = c.contentSum(ctx, name)
	}
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	if info.Size != size || info.Sum != sum {
		return fmt.Errorf("verify %s: it has %d bytes with SHA-256 %s, want %d bytes with %s: %w",
			name, info.Size, info.Sum, size, sum, errDiffers)
	}
	return nil
}

// errDiffers means that an object has not the content that was written.
var errDiffers = errors.New("its content was changed")

// putAgain replaces the changed content of an object by that of a file.
func (c *Store) putAgain(ctx context.Context, name, file string, size int64, sum string) error {
	if err := c.putFile(ctx, name, file, blob.Always); err != nil {
		return err
	}
	return c.verify(ctx, name, size, sum)
}

func (c *Store) contentSum(ctx context.Context, name string) (string, error) {
	r, err := blob.Open(ctx, c.lake, name, "")
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(h, r)
	return hex.EncodeToString(h.Sum(nil)), errors.Join(err, r.Close())
}

func fileSum(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("read staged file: %w", err)
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), errors.Join(err, f.Close())
}

// finalName returns the name in the bucket of an object of an import with that boundary. The hours before the boundary
// are closed, and their late objects go to the compact prefix directly.
func (o stagedObject) finalName(boundary lake.Partition) string {
	if o.Partition >= boundary {
		return lakeRoot + o.Name
	}
	return lakeRoot + lake.CompactName(o.Partition, strings.TrimSuffix(path.Base(o.Name), ".parquet"))
}
