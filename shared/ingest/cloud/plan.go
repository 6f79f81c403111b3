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
	"path/filepath"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/lake"
)

// plan lists which fresh objects of an hour are merged together. All compactions of the hour follow the first plan that
// is put, so that they never create different objects.
type plan struct {
	Groups [][]string `json:"groups"` // names of objects in the bucket
	// Bytes are the sizes of the groups. Plans of earlier versions do not have them.
	Bytes []int64 `json:"bytes,omitempty"`
}

const (
	freshRoot   = lakeRoot + "fresh/"
	compactRoot = lakeRoot + "compact/"
	// maxGroup is the maximum number of objects that are merged into one.
	maxGroup = 512
)

func freshFolder(p lake.Partition) string { return freshRoot + p.String() + "/" }

func compactFolder(p lake.Partition) string { return compactRoot + p.String() + "/" }

func planName(p lake.Partition) string { return planRoot + p.String() + ".json" }

// mergedName returns the name of the plan of an hour after its fresh objects were removed.
func mergedName(p lake.Partition) string { return mergedRoot + p.String() + ".json" }

// hourOf parses the hour at the beginning of a name: yyyy/MM/dd/HH.
func hourOf(name string) (lake.Partition, bool) {
	const layout = "2006/01/02/15"
	if len(name) < len(layout) {
		return 0, false
	}
	t, err := time.Parse(layout, name[:len(layout)])
	return lake.PartitionOf(t.UnixMilli()), err == nil
}

// isObject reports whether info is of an object of the lake. Consoles create other, empty objects to show folders.
func isObject(info blob.Info) bool { return strings.HasSuffix(info.Name, ".parquet") && info.Size > 0 }

// planFor returns the plan of an hour that is closed and to which no import can add objects any more. It creates the
// plan unless there is one.
func (c *Store) planFor(ctx context.Context, hour lake.Partition) (plan, error) {
	var p plan
	err := c.readJSON(ctx, planName(hour), &p)
	if !errors.Is(err, blob.ErrNotFound) {
		return p, err
	}
	if p, err = c.newPlan(ctx, hour); err != nil {
		return plan{}, err
	}
	text, err := json.Marshal(p)
	if err != nil {
		return plan{}, fmt.Errorf("write plan of hour %s: %w", hour, err)
	}
	err = c.lake.Put(ctx, planName(hour), bytes.NewReader(text), blob.IfAbsent)
	if errors.Is(err, blob.ErrExists) {
		return p, c.readJSON(ctx, planName(hour), &p)
	}
	return p, err
}

// newPlan groups the fresh objects of an hour up to the size of a group.
func (c *Store) newPlan(ctx context.Context, hour lake.Partition) (plan, error) {
	var p plan
	var group []string
	var size int64
	add := func() { p.Groups, p.Bytes = append(p.Groups, group), append(p.Bytes, size) }
	for info, err := range c.lake.List(ctx, freshFolder(hour), "") {
		if err != nil {
			return plan{}, err
		}
		if !isObject(info) {
			continue
		}
		if len(group) == maxGroup || len(group) > 0 && size+info.Size > c.config.Group {
			add()
			group, size = nil, 0
		}
		group = append(group, info.Name)
		size += info.Size
	}
	if len(group) > 0 {
		add()
	}
	return p, nil
}

// merge creates the compacted object of a group, unless it exists. An existing object is complete and verified, because
// it is put in one request and only after verification of the merged rows.
//
// readable are the objects of the group that are not lost. If merge finds more damaged objects, it sets them aside. The
// name of the result does not depend on them: every compaction of the group leaves out the same objects, because
// objects never change.
func (c *Store) merge(
	ctx context.Context, hour lake.Partition, group, readable []string, report *CompactReport,
) error {
	name := groupName(hour, group)
	_, err := c.lake.Head(ctx, name)
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
		c.copyLists(ctx, readable[0], name)
		return c.copyVerified(ctx, readable[0], name)
	}
	return c.mergeFiles(ctx, hour, name, readable, report)
}

// copyVerified copies an object and compares the copy with the original.
func (c *Store) copyVerified(ctx context.Context, from, to string) error {
	info, err := c.lake.Head(ctx, from)
	if err == nil && info.Sum == "" {
		info.Sum, err = c.contentSum(ctx, from)
	}
	if err == nil {
		err = c.copyTo(ctx, from, to)
	}
	if err != nil {
		return err
	}
	return c.verify(ctx, to, info.Size, info.Sum)
}

// groupName returns the name of the compacted object of a group.
func groupName(hour lake.Partition, group []string) string {
	return lakeRoot + lake.CompactName(hour, groupDigest(group))
}

// groupDigest returns the name of a merged object. It depends only on the names of the objects merged.
func groupDigest(names []string) string {
	sum := sha256.Sum256([]byte(strings.Join(names, "\n")))
	return hex.EncodeToString(sum[:8])
}

// mergeFiles merges objects on the local disk and puts the result. It leaves out objects of a newer schema, and copies
// them; newer.go explains the rule.
func (c *Store) mergeFiles(
	ctx context.Context, hour lake.Partition, name string, group []string, report *CompactReport,
) (err error) {
	dir, err := os.MkdirTemp(c.config.Scratch, "merge-")
	if err != nil {
		return fmt.Errorf("make scratch directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	copies := make([]localCopy, len(group))
	for i, from := range group {
		copies[i] = localCopy{name: from, path: filepath.Join(dir, fmt.Sprintf("%06d.parquet", i))}
		if err := c.download(ctx, from, copies[i].path); err != nil {
			return err
		}
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
		c.copyLists(ctx, mergeable[0].name, name)
		return c.copyVerified(ctx, mergeable[0].name, name) // as a compaction does that knows the lost objects
	case len(mergeable) == 0:
		if err := ingest.WriteEmpty(file); err != nil {
			return err
		}
	}
	c.putLists(ctx, name, listsName(name), file)
	if err := c.putMerged(ctx, name, file); err != nil {
		return err
	}
	names := make([]string, 0, len(copies))
	for _, object := range append(mergeable, newer...) {
		names = append(names, object.name)
	}
	return c.copyNewer(ctx, hour, name, names, report)
}

// mergeWhole merges objects into a file and returns them. It sets damaged ones aside and leaves them out.
func (c *Store) mergeWhole(
	ctx context.Context, hour lake.Partition, file string, copies []localCopy, report *CompactReport,
) ([]localCopy, error) {
	if len(copies) == 0 {
		return nil, nil
	}
	err := mergeCopies(file, copies)
	if err == nil {
		return copies, nil
	}
	if copies, err = c.setAsideDamaged(ctx, hour, copies, err, report); err != nil || len(copies) == 0 {
		return nil, err
	}
	return copies, mergeCopies(file, copies)
}

func mergeCopies(file string, copies []localCopy) error {
	paths := make([]string, len(copies))
	for i, object := range copies {
		paths[i] = object.path
	}
	_, err := ingest.Merge(filepath.Dir(file), filepath.Base(file), paths)
	return err
}

// putMerged puts the object of a group, unless another compaction has put it.
func (c *Store) putMerged(ctx context.Context, name, file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	sum, err := fileSum(file)
	if err != nil {
		return err
	}
	err = c.putFile(ctx, name, file, blob.IfAbsent)
	if errors.Is(err, blob.ErrExists) {
		return nil
	}
	if err != nil {
		return err
	}
	if err = c.verify(ctx, name, info.Size(), sum); errors.Is(err, errDiffers) {
		err = c.putAgain(ctx, name, file, info.Size(), sum)
	}
	return err
}

func (c *Store) download(ctx context.Context, name, file string) (err error) {
	r, err := blob.Open(ctx, c.lake, name, "")
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
