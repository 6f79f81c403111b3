package compaction

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/cloud/bucket"
	"github.com/orrery/orrery/shared/ingest/cloud/publication"
	"github.com/orrery/orrery/shared/lake"
)

// maxGroup is the maximum number of objects that are merged into one.
const maxGroup = 512

// planFor returns the plan of an hour that is closed and to which no import can add objects any more. It creates the
// plan unless there is one.
func (c *Compactor) planFor(ctx context.Context, hour lake.Partition) (bucket.Plan, error) {
	var p bucket.Plan
	err := c.Lake.ReadJSON(ctx, bucket.PlanName(hour), &p)
	if !errors.Is(err, blob.ErrNotFound) {
		return p, err
	}
	if p, err = c.newPlan(ctx, hour); err != nil {
		return bucket.Plan{}, err
	}
	text, err := json.Marshal(p)
	if err != nil {
		return bucket.Plan{}, fmt.Errorf("write plan of hour %s: %w", hour, err)
	}
	err = c.Lake.Put(ctx, bucket.PlanName(hour), bytes.NewReader(text), blob.IfAbsent)
	if errors.Is(err, blob.ErrExists) {
		return p, c.Lake.ReadJSON(ctx, bucket.PlanName(hour), &p)
	}
	return p, err
}

// newPlan groups the fresh objects of an hour up to the size of a group. The members of a bundle stay together, so that
// the bundle can be merged in their place.
func (c *Compactor) newPlan(ctx context.Context, hour lake.Partition) (bucket.Plan, error) {
	objects, err := c.objectsIn(ctx, bucket.FreshFolder(hour))
	if err != nil {
		return bucket.Plan{}, err
	}
	var p bucket.Plan
	var group []string
	var size int64
	add := func() { p.Groups, p.Bytes = append(p.Groups, group), append(p.Bytes, size) }
	for _, unit := range c.units(ctx, hour, objects) {
		bytes := sizeOf(unit)
		if len(group) > 0 && (len(group)+len(unit) > maxGroup || size+bytes > c.Group) {
			add()
			group, size = nil, 0
		}
		for _, info := range unit {
			group = append(group, info.Name)
		}
		size += bytes
	}
	if len(group) > 0 {
		add()
	}
	return p, nil
}

// objectsIn lists the objects of the lake in a folder.
func (c *Compactor) objectsIn(ctx context.Context, folder string) (objects []blob.Info, _ error) {
	for info, err := range c.Lake.List(ctx, folder, "") {
		if err != nil {
			return nil, err
		}
		if bucket.IsObject(info) {
			objects = append(objects, info)
		}
	}
	return objects, nil
}

func sizeOf(objects []blob.Info) (bytes int64) {
	for _, info := range objects {
		bytes += info.Size
	}
	return bytes
}

// merge creates the compacted object of a group, unless it exists. An existing object is complete and verified, because
// it is put in one request and only after verification of the merged rows.
//
// readable are the objects of the group that are not lost. If merge finds more damaged objects, it sets them aside. The
// name of the result does not depend on them: every compaction of the group leaves out the same objects, because
// objects never change.
func (c *Compactor) merge(
	ctx context.Context, hour lake.Partition, group, readable []string, report *Report,
) error {
	name := bucket.GroupName(hour, group)
	_, err := c.Lake.Head(ctx, name)
	if err == nil {
		return c.copyNewer(ctx, hour, name, readable, report)
	}
	if !errors.Is(err, blob.ErrNotFound) {
		return err
	}
	switch len(readable) {
	case 0:
		return nil // all objects of the group are lost
	case 1:
		version, err := c.schemaVersion(ctx, readable[0])
		if err != nil {
			return err
		}
		report.noteNewer(readable[0], version)
		c.CopyLists(ctx, readable[0], name)
		return c.Lake.CopyVerified(ctx, readable[0], name)
	}
	return c.mergeFiles(ctx, hour, name, readable, report)
}

// mergeFiles merges objects on the local disk and puts the result. It leaves out objects of a newer schema, and copies
// them; newerschema.go explains the rule.
func (c *Compactor) mergeFiles(
	ctx context.Context, hour lake.Partition, name string, group []string, report *Report,
) (err error) {
	dir, err := os.MkdirTemp(c.Scratch, "merge-")
	if err != nil {
		return fmt.Errorf("make scratch directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if merged, err := c.mergeBundles(ctx, hour, dir, name, group); merged || err != nil {
		return err
	}
	copies, err := c.download(ctx, dir, group)
	if err != nil {
		return err
	}
	mergeable, newer := splitNewer(copies)
	if newer, err = c.wholeNewer(ctx, hour, newer, report); err != nil {
		return err
	}
	if len(newer) > 0 {
		if err := c.putVersions(ctx, versionsName(hour, name), copies); err != nil {
			return err
		}
	}
	file := filepath.Join(dir, "merged.parquet")
	if mergeable, err = c.mergeWhole(ctx, hour, file, mergeable, report); err != nil {
		return err
	}
	switch {
	case len(mergeable) == 0 && len(newer) == 0:
		return nil
	case len(mergeable) == 1 && len(newer) == 0:
		c.CopyLists(ctx, mergeable[0].Name, name)
		return c.Lake.CopyVerified(ctx, mergeable[0].Name, name) // as a compaction does that knows the lost objects
	case len(mergeable) == 0:
		if err := ingest.WriteEmpty(file); err != nil {
			return err
		}
	}
	c.PutLists(ctx, name, publication.ListsName(name), file)
	if err := c.putMerged(ctx, name, file); err != nil {
		return err
	}
	names := make([]string, 0, len(copies))
	for _, object := range append(mergeable, newer...) {
		names = append(names, object.Name)
	}
	return c.copyNewer(ctx, hour, name, names, report)
}

// download copies objects to a local folder.
func (c *Compactor) download(ctx context.Context, dir string, names []string) ([]bucket.LocalCopy, error) {
	copies := make([]bucket.LocalCopy, len(names))
	for i, from := range names {
		copies[i] = bucket.LocalCopy{Name: from, Path: filepath.Join(dir, fmt.Sprintf("%06d.parquet", i))}
		if err := c.Lake.Download(ctx, from, copies[i].Path); err != nil {
			return nil, err
		}
	}
	return copies, nil
}

// mergeWhole merges objects into a file and returns them. It sets damaged ones aside and leaves them out.
func (c *Compactor) mergeWhole(
	ctx context.Context, hour lake.Partition, file string, copies []bucket.LocalCopy, report *Report,
) ([]bucket.LocalCopy, error) {
	if len(copies) == 0 {
		return nil, nil
	}
	err := c.mergeCopies(file, copies)
	if err == nil {
		return copies, nil
	}
	copies, err = c.Repairer.SetAsideDamaged(ctx, hour, copies, err, &report.Report)
	if err != nil || len(copies) == 0 {
		return nil, err
	}
	return copies, c.mergeCopies(file, copies)
}

func (c *Compactor) mergeCopies(file string, copies []bucket.LocalCopy) error {
	paths := make([]string, len(copies))
	for i, object := range copies {
		paths[i] = object.Path
	}
	_, err := ingest.Merge(filepath.Dir(file), filepath.Base(file), paths, c.Memory)
	return err
}

// putMerged puts the object of a group, unless another compaction has put it.
func (c *Compactor) putMerged(ctx context.Context, name, file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	sum, err := bucket.FileSum(file)
	if err != nil {
		return err
	}
	err = c.Lake.PutFile(ctx, name, file, blob.IfAbsent)
	if errors.Is(err, blob.ErrExists) {
		return nil
	}
	if err != nil {
		return err
	}
	if err = c.Lake.Verify(ctx, name, info.Size(), sum); errors.Is(err, bucket.ErrDiffers) {
		err = c.Lake.PutAgain(ctx, name, file, info.Size(), sum)
	}
	return err
}
