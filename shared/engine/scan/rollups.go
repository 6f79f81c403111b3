package scan

import (
	"cmp"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
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

// Week is Day for a week.
func (r *Rollups) Week(start int64, subset rollup.Subset, objects []lake.Object) *rollup.Day {
	return r.of(r.folder.Weeks(), start, subset, objects)
}

func (r *Rollups) of(
	folder rollupfile.Folder, start int64, subset rollup.Subset, objects []lake.Object,
) *rollup.Day {
	day, _ := r.day(nil, folder.Path(start, subset), start)
	if day == nil || day.Subset != subset || day.HashID != r.hashKey().ID() || !sameObjects(day.Objects, objects) {
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

// rollupsAt returns the paths of the rollup of a day and of the rollups of its subsets. A path is "" if there is no
// rollup.
func (r *run) rollupsAt(start int64, subsets []rollup.Subset) []string {
	if r.source != nil {
		return r.rolledUpAt[start]
	}
	return rollupsIn(r.rollups.folder, start, subsets)
}

// rollupsIn is rollupsAt for a day or a week of a folder.
func rollupsIn(folder rollupfile.Folder, start int64, subsets []rollup.Subset) (paths []string) {
	paths = append(paths, folder.Path(start, rollup.Subset{}))
	for _, subset := range subsets {
		paths = append(paths, folder.Path(start, subset))
	}
	return paths
}

// sameObjects reports whether a rollup is of exactly these objects. Of an object that was only listed, the name and the
// size are compared: nobody knows its rows.
func sameObjects(of []rollup.Object, objects []lake.Object) bool {
	return slices.EqualFunc(of, identities(objects), func(a, b rollup.Object) bool {
		if b.Rows == 0 {
			return a.Name == b.Name && a.Bytes == b.Bytes
		}
		return a == b
	})
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

// rolledUpDay is a day, a week, or an object of an hour, with its rollup.
type rolledUpDay struct {
	*rollup.Day
	path    string
	version fileVersion
	objects []lake.Object
	groups  []*group     // of the objects, once they are opened
	part    *Part        // nil: it is none
	whole   *rolledUpDay // the day with all records, if this is a subset
}

// rolledUp returns the weeks, the other days, and of others the objects, whose rollups can answer the query, the first
// one first. It also returns the objects that are left.
func (r *run) rolledUp(objects []lake.Object) (days []rolledUpDay, rest []lake.Object) {
	if r.rollups == nil || r.fromRecords || !r.rollsUp() {
		return nil, objects
	}
	days, objects = r.rolledUpWeeks(objects)
	byDay, byHour := ByDay(objects), map[lake.Partition]int{}
	ofDays := map[int64][]string{}
	var paths []string
	for start := range byDay {
		ofDays[start] = r.rollupsAt(start, r.subsets)
		paths = append(paths, ofDays[start]...)
	}
	for _, o := range objects {
		paths = append(paths, r.rolledUpObjects[o.Path])
		byHour[o.Partition]++
	}
	r.expectRollups(paths)
	used := map[int64]bool{}
	for start, of := range byDay {
		found, ok := r.rolledUpAs(ofDays[start], start, of, r.subsets)
		days, used[start] = append(days, found...), ok
	}
	for _, o := range objects {
		if used[startOf(o)] {
			continue
		}
		path, of := r.rolledUpObjects[o.Path], []lake.Object{o}
		day, version := r.rollupOf(path, o.Partition.Start()/1000, of)
		if day != nil && r.rest == nil && day.Has(r.subsets) && r.answers(day, byHour[o.Partition] == 1) {
			days = append(days, rolledUpDay{Day: day, path: path, version: version, objects: of})
			continue
		}
		rest = append(rest, o)
	}
	slices.SortStableFunc(days, func(a, b rolledUpDay) int { return cmp.Compare(a.Start, b.Start) })
	return days, rest
}

// rolledUpWeeks returns the weeks whose rollups can answer the query, and the objects that are left.
func (r *run) rolledUpWeeks(objects []lake.Object) (weeks []rolledUpDay, rest []lake.Object) {
	switch r.query.Shape.(type) {
	case query.TopX, query.Facets, query.Diff:
	default:
		return nil, objects
	}
	if r.source != nil {
		return nil, objects
	}
	used := map[int64]bool{}
	for start, of := range ByWeek(objects) {
		found, ok := r.rolledUpAs(rollupsIn(r.rollups.folder.Weeks(), start, r.subsets), start, of, r.subsets)
		weeks, used[start] = append(weeks, found...), ok
	}
	return weeks, slices.DeleteFunc(slices.Clone(objects), func(o lake.Object) bool { return used[weekOf(o)] })
}

// rolledUpAs returns the rollups of a day or of a week that can answer the query about subsets together: none, if the
// day has no records of the subsets. paths are those of rollupsAt. ok is false if the records must be read.
func (r *run) rolledUpAs(
	paths []string, start int64, objects []lake.Object, subsets []rollup.Subset,
) (found []rolledUpDay, ok bool) {
	if len(paths) == 0 {
		return nil, false
	}
	of := func(path string) (day rolledUpDay, ok bool) {
		day = rolledUpDay{path: path, objects: objects}
		day.Day, day.version = r.rollupOf(path, start, objects)
		return day, day.Day != nil && r.answers(day.Day, true)
	}
	day, answers := of(paths[0])
	if day.Day == nil {
		return nil, false
	}
	for _, others := range r.rest {
		switch {
		case day.Lacks(others):
			return nil, true
		case !day.Has(others):
			return nil, false
		}
	}
	switch {
	case day.Has(subsets) && answers:
		return []rolledUpDay{day}, true
	case day.Has(subsets):
		return nil, false
	case day.Lacks(subsets):
		return nil, true
	case len(paths) == 1 || !day.Tells(subsets):
		return nil, false
	}
	there := day.Of(subsets)
	for i, subset := range subsets {
		if !slices.Contains(there, subset) {
			continue
		}
		part, answers := of(paths[i+1])
		if !answers || part.Subset != subset {
			return nil, false
		}
		part.whole = &day
		found = append(found, part)
	}
	if len(found) > 1 && !addsUp(r.query.Shape) {
		return nil, false
	}
	return found, true
}

// daysOf returns the days of a week with their rollups, or nil if it is a day itself, or if one of them has no rollup.
func (r *run) daysOf(week *rolledUpDay) (days []rolledUpDay) {
	if r.source != nil || len(week.Segments) != 1 || week.Segments[0].Seconds != rollup.WeekLength {
		return nil
	}
	subsets := r.subsets
	if week.Subset != (rollup.Subset{}) {
		subsets = []rollup.Subset{week.Subset}
	}
	for start, of := range ByDay(week.objects) {
		found, ok := r.rolledUpAs(rollupsIn(r.rollups.folder, start, subsets), start, of, subsets)
		if !ok {
			return nil
		}
		days = append(days, found...)
	}
	return days
}

// rollupOf returns the rollup of objects, and its version, or nil if there is none of exactly these. The path may be
// "".
func (r *run) rollupOf(path string, start int64, objects []lake.Object) (*rollup.Day, fileVersion) {
	if path == "" {
		return nil, fileVersion{}
	}
	day, version := r.rollups.day(r.source, path, start)
	if day == nil || !sameObjects(r.asked(day), objects) {
		return nil, fileVersion{}
	}
	return day, version
}

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
				statuses: valueCounts(s.Statuses), origins: valueCounts(s.Origins),
			})
		}
	}
	return found
}

func sumOf(s rollup.Sum) sum { return sum{low: s.Low, high: s.High} }

func (s sum) rolledUp() rollup.Sum { return rollup.Sum{High: s.high, Low: s.low} }

func valueCounts(statuses []query.StatusCount) []valueCount {
	counts := make([]valueCount, len(statuses))
	for i, s := range statuses {
		counts[i] = valueCount{s.Status, s.Count}
	}
	return counts
}

// KeyID identifies the key of the hashes in the lists.
func (r *Rollups) KeyID() uint64 {
	key := r.hashKey()
	return key.ID()
}
