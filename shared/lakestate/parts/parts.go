package parts

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/engine/scan/scanblob"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/rollup"
	"github.com/orrery/orrery/shared/rollup/rollupblob"
)

// Folder is the folder of what is counted, below that of the results of queries.
const Folder = "parts/"

// Job is what a process does about a part: it counts the part, or looks for some of its keys, durations or texts.
type Job struct {
	Version string          // of the program
	Query   json.RawMessage // of Encode
	Objects []Object

	Write string // the name of the object for what is counted

	Keys map[string][]uint64 `json:",omitempty"` // hashes of keys to look for, by columns of topx

	Winners map[string][][]byte `json:",omitempty"` // of topx, by columns: keys whose durations are looked for

	Dimension int           `json:",omitempty"` // of facets
	Texts     []rollup.Hash `json:",omitempty"` // hashes of values of the dimension, whose texts are looked for
}

// Object is an object of the lake.
type Object struct {
	Name string
	Size int64
	ETag string
}

// Done is what a process has done.
type Done struct {
	Unsupported string `json:",omitempty"` // why the part cannot be counted; "" if it is counted

	Size int64  // of the object that was written
	ETag string // of it

	Keys  map[string][]byte `json:",omitempty"` // of rollup.EncodeKnown
	Texts []Text            `json:",omitempty"`

	Durations map[string][]byte `json:",omitempty"` // of scan.DurationsOfPart

	Bytes    int64   // that were read
	Requests int     // for them
	Seconds  float64 // that it took
}

// Text is a value with its hash.
type Text struct {
	Hash rollup.Hash
	Text []byte
}

// Name returns the name of the object for what a job counts, below a prefix. Jobs that count the same have the same
// name. keyID is that of the key of the hashes in rollups.
func (j Job) Name(prefix string, keyID uint64) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %d %q\n", j.Version, keyID, j.Query)
	for _, o := range j.Objects {
		fmt.Fprintf(sum, "%q %d %q\n", o.Name, o.Size, o.ETag)
	}
	return prefix + hex.EncodeToString(sum.Sum(nil)) + ".rollup"
}

// Worker does jobs.
type Worker struct {
	Lake     Lake
	Results  blob.Store // for what is counted
	Version  string     // of the program
	Memory   int64      // bytes for what a job keeps, and again so much for what it reads
	Patience time.Duration
	Now      func() time.Time

	mu  sync.Mutex
	key *rollup.HashKey
}

// Lake is the bucket of the lake.
type Lake interface {
	blob.Store
	blob.Ranges
}

// Do does a job.
func (w *Worker) Do(ctx context.Context, job Job) (done Done, _ error) {
	began := w.Now()
	if job.Version != w.Version { // while a deployment is updated
		return Done{Unsupported: fmt.Sprintf("the program that counts has version %s", w.Version)}, nil
	}
	q, err := Decode(job.Query)
	if err != nil {
		return done, err
	}
	rollups, err := w.rollups(ctx)
	if err != nil {
		return done, err
	}
	infos := make([]blob.Info, len(job.Objects))
	for i, o := range job.Objects {
		infos[i] = blob.Info{Name: o.Name, Size: o.Size, ETag: o.ETag}
	}
	objects, err := Listed(infos)
	if err != nil {
		return done, err
	}
	source := scanblob.New(ctx, w.Lake, infos, w.Memory, w.Patience)
	o := scan.Options{Source: source, Rollups: rollups, Memory: w.Memory, NoFallback: true}
	err = w.do(ctx, job, q, objects, o, &done)
	source.Close()
	done.Bytes, done.Requests = source.Read().Bytes, source.Read().Requests
	done.Seconds = w.Now().Sub(began).Seconds()
	if errors.Is(err, scan.ErrUnsupported) || fault.KindOf(err) == fault.EngineLimit {
		done.Unsupported, err = err.Error(), nil
	}
	return done, err
}

func (w *Worker) do(
	ctx context.Context, job Job, q query.Query, objects []lake.Object, o scan.Options, done *Done,
) error {
	switch {
	case len(job.Keys) > 0:
		found, err := scan.KeysOfPart(ctx, q, objects, job.Keys, o)
		done.Keys = map[string][]byte{}
		for column, keys := range found {
			done.Keys[column] = rollup.EncodeKnown(keys)
		}
		return err
	case len(job.Winners) > 0:
		winners := map[string][]string{}
		for column, keys := range job.Winners {
			for _, key := range keys {
				winners[column] = append(winners[column], string(key))
			}
		}
		var err error
		done.Durations, err = scan.DurationsOfPart(ctx, q, objects, winners, o)
		return err
	case len(job.Texts) > 0:
		found, err := scan.TextsOfPart(ctx, q, objects, job.Dimension, job.Texts, o)
		for hash, text := range found {
			done.Texts = append(done.Texts, Text{hash, []byte(text)})
		}
		return err
	}
	day, lists, err := scan.CountPart(ctx, q, objects, o)
	if err != nil {
		return err
	}
	if err := w.Results.Put(ctx, job.Write, bytes.NewReader(day.EncodeWith(lists)), blob.Always); err != nil {
		return fmt.Errorf("write what was counted: %w", err)
	}
	info, err := w.Results.Head(ctx, job.Write)
	if err != nil {
		return fmt.Errorf("describe what was counted: %w", err)
	}
	done.Size, done.ETag = info.Size, info.ETag
	return nil
}

// rollups returns the key of the hashes in rollups.
func (w *Worker) rollups(ctx context.Context) (*scan.Rollups, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.key == nil {
		key, err := rollupblob.HashKey(ctx, w.Lake)
		if err != nil {
			return nil, err
		}
		w.key = &key
	}
	return scan.NewRemoteRollups(*w.key), nil
}

// Listed returns objects that are only listed. The error is a scan.ErrUnsupported.
func Listed(infos []blob.Info) ([]lake.Object, error) {
	objects := make([]lake.Object, len(infos))
	for i, info := range infos {
		hour, ok := lakestate.HourOf(info.Name)
		if !ok {
			return nil, scan.ErrUnsupported
		}
		objects[i] = lake.Object{
			Path: info.Name, Partition: hour, Bytes: info.Size, MinTsMs: hour.Start(), MaxTsMs: (hour + 1).Start() - 1,
		}
	}
	return objects, nil
}
