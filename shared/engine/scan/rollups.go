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

// Rollups finds the rollups of whole days and weeks, and of large objects of a Source. From these, a scan answers questions about
// all records, or about those of some branches: stats, timelines, topx, facets, and diffs of two periods. It keeps the
// figures of the latest in memory, but not their lists. It is safe for concurrent use. A nil Rollups has none.
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

// rollupsAt returns the paths of the rollups of a day that can answer a query about subsets: the one of the day, and those of
// the subsets. A path is "" if there is no rollup.
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
	whole   *rolledUpDay // of which it is a subset; nil: it is none
}

// rolledUp returns the weeks, the other days, and of others the objects, whose rollups can answer the query, the first one
// first. It also returns the objects that are left.
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
		if day != nil && day.Has(r.subsets) && r.answers(day, byHour[o.Partition] == 1) {
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

// rolledUpAs returns the rollups of a day or of a week that can answer the query about subsets together: none, if the day
// has no records of the subsets. paths are those of rollupsAt. ok is false if the records must be read.
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
	switch {
	case day.Day == nil || day.Has(subsets) && !answers:
		return nil, false
	case day.Has(subsets):
		return []rolledUpDay{day}, true
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

// addsUp reports whether the figures of two subsets of a day add up to those of both. Numbers of different addresses do
// not, and lists of minutes are sorted.
func addsUp(shape query.Shape) bool {
	switch shape.(type) {
	case query.Stats, query.TopX, query.Facets, query.Diff:
		return true
	}
	return false
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

// rollupOf returns the rollup of objects, and its version, or nil if there is none of exactly these. The path may be "".
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

// answers reports whether a rollup has the figures for the query. all says that no other object has records of its hours.
func (r *run) answers(day *rollup.Day, all bool) bool {
	return day.HashID == r.key.ID() && r.coversDay(day) && fits(day, r.query.Shape, r.segments(), all)
}

// takesParts reports whether the query can be answered from some minutes of a rollup, without the rest of the day.
func (r *run) takesParts() bool { return r.minutes != nil && !r.minutes.cut }

// coversDay reports whether the figures of a rollup tell the records of the query from the others of the day. All records
// must be of the period, or of the same period of a diff.
func (r *run) coversDay(day *rollup.Day) bool {
	first, last := day.Times()
	return r.takesParts() || slices.ContainsFunc(SpansOf(r.query), func(p query.Period) bool {
		return p.FromMs <= first && last <= p.ToMs
	})
}

// asked returns the objects of a rollup that are listed for the query, which may be about a part of the day. Objects of
// a source are listed by hours.
func (r *run) asked(day *rollup.Day) []rollup.Object {
	if !r.takesParts() {
		return day.Objects
	}
	var asked []rollup.Object
	for _, o := range day.Objects {
		first, last := o.MinTsMs, o.MaxTsMs
		if r.source != nil {
			hour := lake.PartitionOf(first)
			first, last = hour.Start(), (hour+1).Start()-1
		}
		if r.reach.Touches(first, last) {
			asked = append(asked, o)
		}
	}
	return asked
}

// rollupHead is the length of the start of a rollup that is read at first. Its figures are seldom longer.
const rollupHead = 64 << 10

// expectRollups announces the figures of rollups that are not in memory to the source. A path may be "".
func (r *run) expectRollups(paths []string) {
	if r.source == nil {
		return
	}
	for _, path := range paths {
		if path == "" {
			continue
		}
		_ = openFile(r.source, path, func(in io.ReaderAt) error { // if it fails, reading them does
			version, err := versionOfOpen(path, in)
			if _, known := r.rollups.known.find(version); err != nil || known {
				return err
			}
			return in.(Input).Expect([]parquet.Part{{Length: min(rollupHead, version.size)}})
		})
	}
}

// expectSections announces the sections that the query needs of the lists of days to the source.
func (r *run) expectSections(days []rolledUpDay) error {
	if r.source == nil {
		return nil
	}
	for path, parts := range r.sectionsOf(days) {
		err := openFile(r.source, path, func(in io.ReaderAt) error { return in.(Input).Expect(parts) })
		if err != nil {
			return err
		}
	}
	return nil
}

// sectionsOf returns where the sections are that the query needs of the lists of days, by the paths of their rollups.
func (r *run) sectionsOf(days []rolledUpDay) map[string][]parquet.Part {
	parts := map[string][]parquet.Part{}
	add := func(day rolledUpDay, name string) bool {
		s, found := day.Section(name)
		part := parquet.Part{Offset: int64(day.Bytes) + s.Offset, Length: s.Length}
		if found && s.Length > 0 && !slices.Contains(parts[day.path], part) { // it may be of the day of several subsets
			parts[day.path] = append(parts[day.path], part)
		}
		return found
	}
	for _, day := range days {
		r.eachSection(func(name string) { add(day, name) }, func(d query.Dimension) {
			add(day, rollup.ValuesName(d))
			if day.whole != nil {
				add(*day.whole, rollup.ValuesName(d))
			}
			for part := range 1 << partBits {
				of := day
				if add(day, rollup.PlacesName(d, part)) {
					of = *day.whole
				}
				add(of, rollup.ValuesPartName(d, part))
			}
		})
	}
	return parts
}

// eachSection calls add with the names of the sections that the query needs, and values with the dimensions whose values it
// needs.
func (r *run) eachSection(add func(name string), values func(d query.Dimension)) {
	switch shape := r.query.Shape.(type) {
	case query.Counts:
		add(rollup.CountsName(shape))
	case query.Stats:
		add(durationsName)
	case query.Histogram:
		add(cellsName)
	case query.TopX:
		for _, part := range partsOf(shape) {
			for _, name := range rollup.KeysNames(part.Column) {
				add(name)
			}
		}
	case query.Facets:
		for _, d := range shape.By {
			values(d)
		}
	case query.Diff:
		for _, d := range shape.By {
			values(d)
		}
	}
}

// rollsUp reports whether rollups have the figures of the query.
func (r *run) rollsUp() bool {
	if !r.isSubset {
		return false
	}
	switch shape := r.query.Shape.(type) {
	case query.Counts:
		return r.minutes != nil
	case query.Stats:
		return shape.By == nil && !shape.Percentiles
	case query.Timeline:
		return slices.Contains(rollup.Lengths, shape.SegmentSeconds)
	case query.TopX:
		return !shape.Percentiles
	case query.Diff:
		return shape.Against.Kind != query.AgainstNothing
	case query.Facets:
		return true
	}
	return false
}

// fits reports whether a day has the lists or the figures for a query. The traffic of hours adds up, so stats only need
// that no hour is in two segments. Numbers of different addresses do not add up, so a timeline needs the same segments,
// and all of their records.
func fits(day *rollup.Day, shape query.Shape, division query.Segmentation, all bool) bool {
	switch shape := shape.(type) {
	case query.Timeline:
		ofLength := func(s rollup.Segment) bool { return s.Seconds == shape.SegmentSeconds }
		hasLength := slices.ContainsFunc(day.Segments, ofLength)
		return all && hasLength && !slices.ContainsFunc(day.Segments, func(s rollup.Segment) bool {
			return ofLength(s) &&
				(division.Start(s.Start*1000) != s.Start || division.EndMs(s.Start) != (s.Start+s.Seconds)*1000)
		})
	case query.Counts:
		has, _ := day.HasCounts(shape)
		return has
	case query.TopX:
		return !slices.ContainsFunc(partsOf(shape), func(part query.TopXPart) bool {
			_, found := day.Section(rollup.MembersName(part.Column))
			return !found
		})
	case query.Facets:
		return lists(day, shape.By)
	case query.Diff:
		return lists(day, shape.By)
	}
	return !slices.ContainsFunc(day.Hosts, func(h rollup.Host) bool {
		return division.EndMs(division.Start(h.Hour*1000)) < (h.Hour+rollup.Hour)*1000
	})
}

// lists reports whether a rollup lists the values of dimensions.
func lists(day *rollup.Day, by []query.Dimension) bool {
	return !slices.ContainsFunc(by, func(d query.Dimension) bool {
		_, found := day.Section(rollup.ValuesName(d))
		return !found
	})
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
