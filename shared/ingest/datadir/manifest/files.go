package manifest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/lake"
)

// version is the version of the file format. Files of other versions are refused.
const version = 1

// head is the content of the head file. A change becomes visible when the head file is replaced.
type head struct {
	Version  int         `json:"version"`
	Sequence int64       `json:"sequence"` // number of changes
	Extent   lake.Extent `json:"extent"`
	// Recent lists the latest changes, oldest first. Readers discard what they have cached of these hours.
	Recent []changeEntry `json:"recent,omitempty"`
	// Pending holds the hours of the latest change until their own files are written.
	Pending []hourManifest `json:"pending,omitempty"`
	// Retention is how long records are kept; nil if nothing was removed for its age.
	Retention *retentionEntry `json:"retention,omitempty"`
}

// changeEntry lists the hours that one change replaced.
type changeEntry struct {
	Sequence int64    `json:"sequence"`
	Hours    []string `json:"hours"`
}

// hourManifest is the manifest of one hour.
type hourManifest struct {
	Version    int               `json:"version"`
	Hour       string            `json:"hour"`     // yyyy-MM-dd-HH
	Sequence   int64             `json:"sequence"` // number of the change that wrote it
	Objects    []objectEntry     `json:"objects"`
	Superseded []supersededEntry `json:"superseded,omitempty"`
}

// objectEntry is the JSON form of a lake.Object. Name is its path below the lake directory, with slashes.
type objectEntry struct {
	Name        string           `json:"name"`
	Rows        int64            `json:"rows"`
	Bytes       int64            `json:"bytes"`
	MinTsMs     int64            `json:"min_ts_ms"`
	MaxTsMs     int64            `json:"max_ts_ms"`
	ColumnBytes map[string]int64 `json:"column_bytes,omitempty"`
	FirstChange int64            `json:"first_change,omitempty"`
	LastChange  int64            `json:"last_change,omitempty"`
}

// supersededEntry is an object that a compaction has replaced. Queries that began before may still read it.
type supersededEntry struct {
	Name string    `json:"name"`
	At   time.Time `json:"at"`
}

func (o objectEntry) lakeObject(p lake.Partition) lake.Object {
	return lake.Object{
		Path:        o.Name,
		Partition:   p,
		Rows:        o.Rows,
		Bytes:       o.Bytes,
		MinTsMs:     o.MinTsMs,
		MaxTsMs:     o.MaxTsMs,
		ColumnBytes: o.ColumnBytes,
		FirstChange: o.FirstChange,
		LastChange:  o.LastChange,
	}
}

func byPath(a, b lake.Object) int { return cmp.Compare(a.Path, b.Path) }

// changedSince returns the hours that changed after a sequence number, and whether the head still lists all of them.
func (h head) changedSince(sequence int64) (hours []lake.Partition, complete bool) {
	if h.Sequence < sequence {
		return nil, false // the directory has been replaced by another lake
	}
	next := h.Sequence + 1
	for _, r := range slices.Backward(h.Recent) {
		if r.Sequence <= sequence {
			break
		}
		next = r.Sequence
		for _, name := range r.Hours {
			if p, err := parseHour(name); err == nil {
				hours = append(hours, p)
			}
		}
	}
	return hours, next <= sequence+1
}

func (h hourManifest) partition() (lake.Partition, error) { return parseHour(h.Hour) }

const hourLayout = "2006-01-02-15"

func hourName(p lake.Partition) string {
	return time.UnixMilli(p.Start()).UTC().Format(hourLayout)
}

func parseHour(name string) (lake.Partition, error) {
	t, err := time.Parse(hourLayout, name)
	if err != nil {
		return 0, fmt.Errorf("hour %q: %w", name, err)
	}
	return lake.PartitionOf(t.UnixMilli()), nil
}

func hoursDir(dir string) string { return filepath.Join(dir, "manifests") }
func headPath(dir string) string { return filepath.Join(hoursDir(dir), "_head.json") }
func lockPath(dir string) string { return filepath.Join(hoursDir(dir), "_lock") }
func hourPath(dir string, p lake.Partition) string {
	return filepath.Join(hoursDir(dir), hourName(p)+".json")
}

// readHead returns the content of the head file. It is empty if nothing has been published.
func readHead(dir string) ([]byte, error) {
	raw, err := os.ReadFile(headPath(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return []byte{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	return raw, nil
}

func parseHead(dir string, raw []byte) (head, error) {
	h := head{Version: version}
	if len(raw) == 0 && !exists(headPath(dir)) {
		return h, nil
	}
	if err := json.Unmarshal(raw, &h); err != nil {
		return head{}, fmt.Errorf("manifest %s is unreadable: %w", headPath(dir), err)
	}
	if h.Version != version {
		return head{}, fmt.Errorf("manifest %s has version %d, but this program reads version %d",
			headPath(dir), h.Version, version)
	}
	return h, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// readHour reads the manifest of one hour.
func readHour(dir string, p lake.Partition) (hourManifest, error) {
	path := hourPath(dir, p)
	raw, err := os.ReadFile(path)
	if err != nil {
		return hourManifest{}, fmt.Errorf("read manifest: %w", err)
	}
	var h hourManifest
	if err := json.Unmarshal(raw, &h); err != nil {
		return hourManifest{}, fmt.Errorf("manifest %s is unreadable: %w", path, err)
	}
	if h.Version != version {
		return hourManifest{}, fmt.Errorf("manifest %s has version %d, but this program reads version %d",
			path, h.Version, version)
	}
	if h.Hour != hourName(p) {
		return hourManifest{}, fmt.Errorf("manifest %s is of another hour: %s", path, h.Hour)
	}
	return h, nil
}

// listHours returns the hours that have a manifest, in ascending order.
func listHours(dir string) ([]lake.Partition, error) {
	entries, err := os.ReadDir(hoursDir(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list manifests: %w", err)
	}
	var hours []lake.Partition
	for _, e := range entries {
		name, isHour := strings.CutSuffix(e.Name(), ".json")
		if !isHour || strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") {
			continue
		}
		p, err := parseHour(name)
		if err != nil {
			return nil, fmt.Errorf("list manifests in %s: %w", hoursDir(dir), err)
		}
		hours = append(hours, p)
	}
	slices.Sort(hours)
	return hours, nil
}
