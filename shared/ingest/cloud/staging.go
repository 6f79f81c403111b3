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
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/lake"
)

// staging is the objects of one attempt at an import, in the lake's bucket but where no reader looks. They go there one
// by one as they are made, so that the local disk holds few; once the import is committed anybody can publish them.
type staging struct {
	cloud   *Store
	attempt string
	began   time.Time

	mu   sync.Mutex
	list stagedList
}

// stagedList is the content of <attempt>/objects.json.
type stagedList struct {
	Objects    []stagedObject `json:"objects"`
	Quarantine string         `json:"quarantine,omitempty"` // name to be given to quarantine.ndjson
}

type stagedObject struct {
	Staged    string         `json:"staged"`    // file in the attempt's folder
	Name      string         `json:"name"`      // after lake/, as it was imported before its hour was closed
	Partition lake.Partition `json:"partition"` //
	Bytes     int64          `json:"bytes"`
	Sum       string         `json:"sha256"`
}

const (
	stagedIndex      = "objects.json"
	stagedQuarantine = "quarantine.ndjson"
)

func (s *staging) name(file string) string { return stagingRoot + s.attempt + "/" + file }

// take puts an object into the bucket, compares what is there with the file, and removes that.
func (s *staging) take(ctx context.Context, file string, object lake.Object) error {
	sum, err := fileSum(file)
	if err != nil {
		return err
	}
	o := stagedObject{Staged: filepath.Base(file), Name: object.Path, Partition: object.Partition, Bytes: object.Bytes, Sum: sum}
	if err := s.cloud.putFile(ctx, s.name(o.Staged), file, blob.Always); err != nil {
		return err
	}
	if err := s.cloud.verify(ctx, s.name(o.Staged), o.Bytes, o.Sum); err != nil {
		return err
	}
	if err := os.Remove(file); err != nil {
		return fmt.Errorf("remove staged file: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list.Objects = append(s.list.Objects, o)
	return nil
}

// quarantine stages the rejected lines, to be given a name.
func (s *staging) quarantine(ctx context.Context, file, name string) error {
	s.list.Quarantine = name
	return s.cloud.putFile(ctx, s.name(stagedQuarantine), file, blob.Always)
}

// conclude writes down what is staged, for whoever publishes it.
func (s *staging) conclude(ctx context.Context) error {
	text, err := json.Marshal(s.list)
	if err != nil {
		return fmt.Errorf("write list of staged objects: %w", err)
	}
	return s.cloud.lake.Put(ctx, s.name(stagedIndex), bytes.NewReader(text), blob.Always)
}

// remove removes everything staged; only an attempt that is not and will not be committed, or is published, may.
func (s *staging) remove(ctx context.Context) error { return s.cloud.removeStaged(ctx, s.attempt) }

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

// verify compares an object in the bucket with what it should be. The store tells the hash that it found when the
// object was written; where it does not, the object is read.
func (c *Store) verify(ctx context.Context, name string, size int64, sum string) error {
	info, err := c.lake.Head(ctx, name)
	if err == nil && info.Sum == "" {
		info.Sum, err = c.contentSum(ctx, name)
	}
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	if info.Size != size || info.Sum != sum {
		return fmt.Errorf("verify %s: it has %d bytes with SHA-256 %s, not %d with %s", name, info.Size, info.Sum, size, sum)
	}
	return nil
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

// place is the name in the bucket of an object of an import that was bound to a boundary: hours before it are closed,
// and their late objects go straight to the compacted ones.
func (o stagedObject) place(boundary lake.Partition) string {
	if o.Partition >= boundary {
		return lakeRoot + o.Name
	}
	return lakeRoot + lake.CompactName(o.Partition, strings.TrimSuffix(path.Base(o.Name), ".parquet"))
}
