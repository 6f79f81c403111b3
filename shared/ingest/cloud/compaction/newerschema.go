package compaction

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/cloud/bucket"
	"github.com/orrery/orrery/shared/lake"
)

// After a rollback, an hour may have objects of a newer schema than the program that compacts it. They cannot be
// merged, because their rows would lose columns, and they must stay visible when the watermark passes the hour.
// Programs of both versions may compact the hour at the same time. This rule makes their results agree:
//
//	The object with the name of a group has the rows of those objects of the group that are not newer than itself.
//	Every newer object of the group is copied as a group of its own.
//
// An existing object of a group is not replaced, so the first program that puts it decides for all. Before a
// program puts an object without all rows of the group, it records the versions of the group, so that any program can
// make the copies.

// versions are the versions of the schemas of the objects of a group, by the names of the objects. An object that
// cannot be read has version 0.
type versions map[string]int

// versionsName returns the name of the versions of the group that an object is named for.
func versionsName(hour lake.Partition, object string) string {
	digest := object[strings.LastIndex(object, "/")+1:]
	return bucket.PlanRoot + hour.String() + "." + strings.TrimSuffix(digest, ".parquet") + ".json"
}

// splitNewer separates the objects that this program cannot merge.
func splitNewer(copies []bucket.LocalCopy) (mergeable, newer []bucket.LocalCopy) {
	for _, object := range copies {
		if ingest.IsNewer(object.Path) {
			newer = append(newer, object)
		} else {
			mergeable = append(mergeable, object)
		}
	}
	return mergeable, newer
}

// wholeNewer returns the objects of a newer schema that are not damaged, and sets the others aside. Merging
// does not read these objects, so nothing else would find the damage.
func (c *Compactor) wholeNewer(
	ctx context.Context, hour lake.Partition, newer []bucket.LocalCopy, report *Report,
) (whole []bucket.LocalCopy, err error) {
	for _, object := range newer {
		damage := ingest.Verify(object.Path)
		if damage == nil {
			whole = append(whole, object)
			continue
		}
		if _, err := c.Repairer.SetAsideDamaged(
			ctx, hour, []bucket.LocalCopy{object}, damage, &report.Report,
		); err != nil {
			return nil, err
		}
	}
	return whole, nil
}

// putVersions records the versions of the objects of a group.
func (c *Compactor) putVersions(ctx context.Context, name string, copies []bucket.LocalCopy) error {
	v := versions{}
	for _, object := range copies {
		version, err := ingest.SchemaVersion(object.Path)
		if local := (*fs.PathError)(nil); errors.As(err, &local) {
			return err // of the local disk
		}
		v[object.Name] = version
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	err = c.Lake.Put(ctx, name, bytes.NewReader(text), blob.IfAbsent)
	if errors.Is(err, blob.ErrExists) {
		return nil // another compaction has read the same versions
	}
	return err
}

// copyNewer copies those objects of a group that are newer than the object of the group, name. group are the objects
// that are not lost.
func (c *Compactor) copyNewer(
	ctx context.Context, hour lake.Partition, name string, group []string, report *Report,
) error {
	var all versions
	err := c.Lake.ReadJSON(ctx, versionsName(hour, name), &all)
	if errors.Is(err, blob.ErrNotFound) {
		return nil // the object has all rows of the group
	}
	if err != nil {
		return err
	}
	merged, err := c.schemaVersion(ctx, name)
	if err != nil {
		return err
	}
	for _, object := range group {
		if all[object] <= merged {
			continue
		}
		own := bucket.GroupName(hour, []string{object})
		c.CopyLists(ctx, object, own)
		if err := c.Lake.CopyVerified(ctx, object, own); err != nil {
			return err
		}
		report.Merged++
		report.noteNewer(object, all[object])
	}
	return nil
}

// noteNewer adds an object to the report if this program cannot merge its version.
func (r *Report) noteNewer(object string, version int) {
	if version > lake.SchemaVersion() {
		r.Newer = append(r.Newer, object)
	}
}

// schemaVersion returns the version of the schema of an object in the bucket. It reads only the footer. The version is
// 0 if the object is damaged.
func (c *Compactor) schemaVersion(ctx context.Context, name string) (version int, err error) {
	in, err := blob.Open(ctx, c.Lake, name, "")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	r := &readerAt{in: in}
	if version, err = ingest.ReadSchemaVersion(r, in.Info().Size); err != nil {
		return 0, r.failed
	}
	return version, nil
}

// readerAt reads parts of an object in the bucket. failed is the first error of the bucket.
type readerAt struct {
	in     *blob.Reader
	failed error
}

func (r *readerAt) ReadAt(p []byte, offset int64) (n int, err error) {
	if _, err = r.in.Seek(offset, io.SeekStart); err == nil {
		n, err = io.ReadFull(r.in, p)
	}
	if r.failed == nil {
		r.failed = err
	}
	return n, err
}
