package publication

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/completionindex"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/ingest/cloud/bucket"
	"github.com/orrery/orrery/shared/lake"
)

// Every object has the lists of its values next to it, in another folder. They follow it: they are staged, copied and
// removed with it. Readers find lists by the objects, so lists without an object do no harm. Therefore they are put
// before an object if no later step would make them, and removed before it.
//
// Nothing waits for lists. The functions of this file return no errors: an object without lists is whole.

const (
	// listsTimeout is the longest time for which requests for the lists of an object, or of an import, hold up what
	// follows.
	listsTimeout = 15 * time.Second
	// makingTimeout is the longest time in which lists are made of an object that is on the local disk, and that in
	// which an object is downloaded for it.
	makingTimeout = 30 * time.Second
)

// ListsName returns the name in the bucket of the lists of an object.
func ListsName(object string) string {
	return bucket.LakeRoot + completionindex.Name(strings.TrimPrefix(object, bucket.LakeRoot))
}

func ListsNames(objects []string) []string {
	names := make([]string, len(objects))
	for i, name := range objects {
		names[i] = ListsName(name)
	}
	return names
}

// listsFile returns the name of the staged lists in the folder of the attempt.
func (o stagedObject) listsFile() string { return o.Staged + ".values" }

// maxUnlisted is the number of objects without lists after which an attempt at an import makes no further lists, so
// that failures do not hold it up again and again.
const maxUnlisted = 3

// stageLists stages the lists of a staged object.
func (s *Area) stageLists(ctx context.Context, o *stagedObject, file string) {
	if s.unlisted.Load() >= maxUnlisted {
		return
	}
	if o.Listed = s.publisher.PutLists(ctx, o.Name, s.name(o.listsFile()), file); !o.Listed {
		s.unlisted.Add(1)
	}
}

// PutLists makes the lists of an object, which is in a file, and puts them under a name. It reports whether it has.
func (p *Publisher) PutLists(ctx context.Context, object, name, file string) bool {
	text, err := listsIn(ctx, file)
	if err == nil {
		err = p.putText(ctx, name, text)
	}
	return p.listed(ctx, object, err)
}

// listsIn makes the lists of an object in a file, unless that takes too long.
func listsIn(ctx context.Context, file string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, makingTimeout)
	defer cancel()
	return scan.ValueLists(ctx, file)
}

func (p *Publisher) putText(ctx context.Context, name string, text []byte) error {
	ctx, cancel := context.WithTimeout(ctx, listsTimeout)
	defer cancel()
	return p.Lake.Put(ctx, name, bytes.NewReader(text), blob.Always)
}

// listed reports whether an object has its lists, which is so without an error.
func (p *Publisher) listed(ctx context.Context, object string, err error) bool {
	if err != nil {
		p.Unlisted(ctx, object, err)
	}
	return err == nil
}

// copyStagedLists copies the staged lists of an import, newest hours first.
func (p *Publisher) copyStagedLists(ctx context.Context, staged *Area, boundary lake.Partition) {
	newest := slices.Clone(staged.list.Objects)
	slices.SortStableFunc(newest, func(a, b stagedObject) int { return cmp.Compare(b.Partition, a.Partition) })
	limited, cancel := context.WithTimeout(ctx, listsTimeout)
	defer cancel()
	var group errgroup.Group
	group.SetLimit(p.Copies)
	for _, object := range newest {
		if !object.Listed {
			continue
		}
		group.Go(func() error {
			if err := limited.Err(); err != nil {
				return err
			}
			err := p.Lake.CopyTo(limited, staged.name(object.listsFile()), ListsName(object.finalName(boundary)))
			if errors.Is(err, blob.ErrNotFound) {
				return nil // another process has published the import and removed what was staged
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		p.Unlisted(ctx, "objects of the attempt "+staged.Attempt, err)
	}
}

// CopyLists puts the lists of an object under the name of its copy. An object that an earlier version has written has
// none; then CopyLists makes them.
func (p *Publisher) CopyLists(ctx context.Context, from, to string) {
	text, err := p.readLists(ctx, from)
	switch {
	case errors.Is(err, blob.ErrNotFound):
		err = p.makeLists(ctx, from, to)
	case err == nil:
		err = p.putText(ctx, ListsName(to), text)
	}
	p.listed(ctx, to, err)
}

func (p *Publisher) readLists(ctx context.Context, object string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, listsTimeout)
	defer cancel()
	r, err := blob.Open(ctx, p.Lake, ListsName(object), "")
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(r, completionindex.MaxBytes))
	return text, errors.Join(err, r.Close())
}

// makeLists makes the lists of an object in the bucket, and puts them under the name of its copy.
func (p *Publisher) makeLists(ctx context.Context, from, to string) (err error) {
	dir, err := os.MkdirTemp(p.Scratch, "lists-")
	if err != nil {
		return fmt.Errorf("make scratch directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "object.parquet")
	limited, cancel := context.WithTimeout(ctx, makingTimeout)
	defer cancel()
	if err := p.Lake.Download(limited, from, file); err != nil {
		return err
	}
	text, err := listsIn(ctx, file)
	if err != nil {
		return err
	}
	return p.putText(ctx, ListsName(to), text)
}
