package scan

import (
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/rollup"
	"github.com/orrery/orrery/shared/rollup/rollupfile"
)

// Rollups finds the rollups of whole days and weeks, and of large objects of a Source. From these, a scan answers
// questions about all records, or about those of some branches: stats, timelines, topx, facets, and diffs of two
// periods. It keeps the figures of the latest in memory, but not their lists. It is safe for concurrent use. A nil
// Rollups has none.
type Rollups struct {
	folder rollupfile.Folder // "": Options.RolledUp names them
	known  lru[fileVersion, *rollup.Day]

	learned lru[learnedKey, *rollup.Key] // that were looked for in records; nil: the day does not have the key

	mu      sync.Mutex
	key     rollup.HashKey
	version fileVersion // of its file
}

// learnedKey names a key of a column of topx in the day of a rollup.
type learnedKey struct {
	of     fileVersion
	column string
	hash   uint64
}

// The number of bytes of rollups in memory, 400 days of 40 hosts, and of keys.
const (
	maxRollups = 64 << 20
	maxLearned = 8 << 20
)

// NewRollups returns the rollups in a folder.
func NewRollups(folder rollupfile.Folder) *Rollups {
	return &Rollups{
		folder: folder, known: lru[fileVersion, *rollup.Day]{most: maxRollups}, key: ownKey,
		learned: lru[learnedKey, *rollup.Key]{most: maxLearned},
	}
}

// NewRemoteRollups returns the rollups of a Source, whose lists have hashes with this key.
func NewRemoteRollups(key rollup.HashKey) *Rollups {
	r := NewRollups("")
	r.key = key
	return r
}

// hashKey returns the key of the hashes in the lists of rollups.
func (r *Rollups) hashKey() rollup.HashKey {
	if r == nil {
		return ownKey
	}
	if r.folder == "" {
		return r.key
	}
	path := r.folder.HashKeyPath()
	info, err := os.Stat(path)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil || versionOf(path, info) == r.version {
		return r.key
	}
	if key, err := r.folder.HashKey(); err == nil {
		r.key, r.version = key, versionOf(path, info)
	}
	return r.key
}

// Day returns the rollup of a subset of a day if it is of exactly these objects, and nil otherwise.
func (r *Rollups) Day(start int64, subset rollup.Subset, objects []lake.Object) *rollup.Day {
	return r.of(r.folder, start, subset, objects)
}

// RolledUp returns the objects of a day or of a week whose records its rollup has. If the rollup also has records of
// other objects, it returns none. The length is in seconds.
func (r *Rollups) RolledUp(start, length int64, objects []lake.Object) []lake.Object {
	folder := r.folder
	if length == rollup.WeekLength {
		folder = folder.Weeks()
	}
	day, _ := r.day(nil, folder.Path(start, rollup.Subset{}), start)
	if day == nil {
		return nil
	}
	of, _, _ := objectsOf(day.Objects, objects)
	return of
}

// Week is Day for a week.
func (r *Rollups) Week(start int64, subset rollup.Subset, objects []lake.Object) *rollup.Day {
	return r.of(r.folder.Weeks(), start, subset, objects)
}

func (r *Rollups) of(
	folder rollupfile.Folder, start int64, subset rollup.Subset, objects []lake.Object,
) *rollup.Day {
	day, _ := r.day(nil, folder.Path(start, subset), start)
	if day == nil || day.Subset != subset || day.HashID != r.hashKey().ID() || !isOf(day, objects) {
		return nil
	}
	return day
}

// day returns the rollup of a day in a file, or in a source unless that is nil. If it cannot be read, it returns nil.
// It also returns the version of the file.
func (r *Rollups) day(source Source, path string, start int64) (day *rollup.Day, version fileVersion) {
	err := openFile(source, path, func(in io.ReaderAt) (err error) {
		if version, err = versionOfOpen(path, in); err != nil {
			return err
		}
		var known bool
		if day, known = r.known.find(version); known {
			return nil
		}
		if day, err = rollup.Read(in, start); err == nil {
			r.known.add(version, day, day.Memory())
		}
		return err
	})
	if err != nil {
		return nil, fileVersion{}
	}
	return day, version
}

// objectsOf returns the objects whose records a rollup has, and the others, in their order. ok is false if the rollup
// has records of other objects, too. If an object was only listed, so that nobody knows its rows, its name and its size
// are compared.
func objectsOf(of []rollup.Object, objects []lake.Object) (has, rest []lake.Object, ok bool) {
	known := make(map[string]rollup.Object, len(of))
	for _, o := range of {
		known[o.Name] = o
	}
	for _, o := range objects {
		listed := rollup.ObjectOf(o)
		found := known[listed.Name]
		if found == listed || listed.Rows == 0 && found.Name == listed.Name && found.Bytes == listed.Bytes {
			has = append(has, o)
		} else {
			rest = append(rest, o)
		}
	}
	if len(has) < len(of) {
		return nil, objects, false
	}
	return has, rest, true
}

// isOf reports whether a rollup is of exactly these objects.
func isOf(day *rollup.Day, objects []lake.Object) bool {
	_, rest, ok := objectsOf(day.Objects, objects)
	return ok && len(rest) == 0
}

// identities returns what identifies objects, in the order of their names.
func identities(objects []lake.Object) []rollup.Object {
	list := make([]rollup.Object, len(objects))
	for i, o := range objects {
		list[i] = rollup.ObjectOf(o)
	}
	slices.SortFunc(list, func(a, b rollup.Object) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// ByDay returns the objects of each day, by its start in Unix seconds.
func ByDay(objects []lake.Object) map[int64][]lake.Object { return by(startOf, objects) }

// ByWeek returns the objects of each week, by its start in Unix seconds.
func ByWeek(objects []lake.Object) map[int64][]lake.Object { return by(weekOf, objects) }

func by(start func(lake.Object) int64, objects []lake.Object) map[int64][]lake.Object {
	of := map[int64][]lake.Object{}
	for _, o := range objects {
		of[start(o)] = append(of[start(o)], o)
	}
	return of
}

func weekOf(o lake.Object) int64 { return rollup.WeekOf(startOf(o)) }

func startOf(o lake.Object) int64 { return rollup.StartOf(o.Partition.Start()) }

// ofDay returns the groups of a day.
func (g *grouping) ofDay(day *rollup.Day) *groupsOfRows {
	found := &groupsOfRows{groups: make([]groupOfRows, len(day.Hosts))}
	for i, h := range day.Hosts {
		of := &found.groups[i]
		of.segment, of.value = g.segments.Start(h.Hour*1000), parquet.Absent
		if h.Named {
			name := []byte(h.Name)
			of.value = found.values.Code(name, parquet.Hash(name))
		}
		of.traffic = traffic{
			requests: h.Requests, timed: h.Timed, bandwidth: sumOf(h.Bandwidth), timeUs: sumOf(h.TimeUs),
		}
	}
	return found
}

// ofDay returns the segments of a day.
func (t *timeline) ofDay(day *rollup.Day, seconds int64) *segmentsOfRows {
	found := &segmentsOfRows{}
	for _, s := range day.Segments {
		if s.Seconds == seconds {
			found.segments = append(found.segments, segmentOfRows{
				start: s.Start,
				securityCounts: securityCounts{
					requests: s.Requests, blocked: s.Blocked, challenges: s.Challenges, human: s.Human,
					originBlocked: s.OriginBlocked, ips: s.IPs, sessions: s.Sessions, bytesSent: sumOf(s.BytesSent),
				},
				statuses: s.Statuses, origins: s.Origins,
			})
		}
	}
	return found
}

func sumOf(s rollup.Sum) sum { return sum{low: s.Low, high: s.High} }

func (s sum) rolledUp() rollup.Sum { return rollup.Sum{High: s.high, Low: s.low} }

// KeyID identifies the key of the hashes in the lists.
func (r *Rollups) KeyID() uint64 {
	key := r.hashKey()
	return key.ID()
}
