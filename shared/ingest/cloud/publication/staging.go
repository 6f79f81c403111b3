package publication

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/ingest/cloud/bucket"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
)

// Area holds the objects of one attempt at an import, in the bucket of the lake under a prefix that no reader
// reads. Objects are put there one by one as they are created, so that the local disk holds few of them. Once the
// import is committed, any process can publish them.
type Area struct {
	publisher *Publisher
	Attempt   string
	Began     time.Time
	Arrived   time.Time // when the log was put into the raw bucket

	unlisted atomic.Int32 // objects whose lists of values could not be put

	mu      sync.Mutex
	list    stagingIndex
	columns lakestate.ColumnsByHour // of all objects
}

// AbandonedAfter is the age from which an attempt that is not committed is considered abandoned. No import runs that
// long.
const AbandonedAfter = 24 * time.Hour

// NewArea returns an area for an attempt that begins now.
func (p *Publisher) NewArea() *Area {
	return &Area{publisher: p, Attempt: rand.Text(), Began: p.Now()}
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

// days returns the days of the objects.
func (i stagingIndex) days() []lake.Day {
	var days []lake.Day
	for _, o := range i.Objects {
		days = append(days, o.Partition.Day())
	}
	return days
}

const (
	stagingIndexFile      = "objects.json"
	stagingQuarantineFile = "quarantine.ndjson"
)

func (s *Area) name(file string) string { return bucket.StagingRoot + s.Attempt + "/" + file }

// Add puts an object into the bucket, compares it with its file, and removes the file. It also puts the lists of the
// object's values, unless that fails.
func (s *Area) Add(ctx context.Context, file string, object lake.Object) error {
	sum, err := bucket.FileSum(file)
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
	if err := s.publisher.Lake.PutFile(ctx, s.name(o.Staged), file, blob.Always); err != nil {
		return err
	}
	if err := s.publisher.Lake.Verify(ctx, s.name(o.Staged), o.Bytes, o.Sum); err != nil {
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

// Quarantine stages the rejected lines. They get the name when the import is published.
func (s *Area) Quarantine(ctx context.Context, file, name string) error {
	s.list.Quarantine = name
	return s.publisher.Lake.PutFile(ctx, s.name(stagingQuarantineFile), file, blob.Always)
}

// WriteIndex writes the list of the staged objects for the process that publishes them.
func (s *Area) WriteIndex(ctx context.Context) error {
	s.list.Columns = s.columns.Newest(math.MinInt64)
	text, err := json.Marshal(s.list)
	if err != nil {
		return fmt.Errorf("write list of staged objects: %w", err)
	}
	return s.publisher.Lake.Put(ctx, s.name(stagingIndexFile), bytes.NewReader(text), blob.Always)
}

// Remove removes everything that is staged. The attempt must be published, or must never be committed.
func (s *Area) Remove(ctx context.Context) error {
	return s.publisher.removeStaged(ctx, s.Attempt)
}

func (p *Publisher) removeStaged(ctx context.Context, attempt string) error {
	var names []string
	for info, err := range p.Lake.List(ctx, bucket.StagingRoot+attempt+"/", "") {
		if err != nil {
			return err
		}
		names = append(names, info.Name)
	}
	return p.Lake.Delete(ctx, names...)
}

// finalName returns the name in the bucket of an object of an import with that boundary. The hours before the boundary
// are closed, and their late objects go to the compact prefix directly.
func (o stagedObject) finalName(boundary lake.Partition) string {
	if o.Partition >= boundary {
		return bucket.LakeRoot + o.Name
	}
	return bucket.LakeRoot + lake.CompactName(o.Partition, strings.TrimSuffix(path.Base(o.Name), ".parquet"))
}

// FinalNames returns the names in the bucket of the objects of an import with that boundary.
func (s *Area) FinalNames(boundary lake.Partition) []string {
	names := make([]string, len(s.list.Objects))
	for i, o := range s.list.Objects {
		names[i] = o.finalName(boundary)
	}
	return names
}
