package scan

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/rollup"
)

// maxUnions is the most counts in the unions of a day. They take up to 100 kB.
const maxUnions = 20_000

// textInHour tells in which branches a text occurs in an hour.
type textInHour struct {
	hash  uint64
	check uint32
	in    uint32 // the hour of the day, and below it a bit for each branch
}

const (
	textInHourBytes = 16
	branchBits      = mostSubsets
	hoursOfDay      = rollup.DayLength / rollup.Hour
)

// unions are the addresses and the sessions of a day, in each hour.
type unions struct {
	run   *run
	start int64             // of the day, in Unix seconds
	bits  map[string]uint32 // of the branches

	mu            sync.Mutex
	ips, sessions []textInHour
	reserved      int64 // bytes of these
}

// listUnions lists the unions of the branches of a day, unless there are too many.
func (r *run) listUnions(
	ctx context.Context, groups []*group, start int64, by rollup.Division, lists *rollup.Lists,
) error {
	u := unions{run: r, start: start, bits: map[string]uint32{}}
	for _, s := range by.Subsets {
		u.bits[s.Value] = by.Bits([]rollup.Subset{s})
	}
	defer func() { r.unreserve(u.reserved) }()
	err := r.scanColumns(ctx, groups, []string{"ts_ms", "branch", "ip", "session"}, func(w *worker, _ int) error {
		return u.read(w)
	})
	if err != nil {
		return err
	}
	var all []rollup.Union
	n := 0
	segments := segmentsOfDay()
	ips, sessions := unionsOf(u.ips, segments), unionsOf(u.sessions, segments)
	for i, s := range segments {
		union := rollup.Union{Start: start + s.Start, Seconds: s.Seconds}
		union.IPs, union.Sessions = inBranches(ips[i]), inBranches(sessions[i])
		n += len(union.IPs) + len(union.Sessions)
		all = append(all, union)
	}
	if n <= maxUnions {
		lists.AddUnions(all)
	}
	return nil
}

// read adds the texts of a row group.
func (u *unions) read(w *worker) error {
	rows, err := w.chosen()
	if err != nil || len(rows) == 0 {
		return err
	}
	columns, err := w.all("ts_ms", "branch", "ip", "session")
	if err != nil {
		return err
	}
	ts, branch := columns[0].Ints, columns[1]
	bits := make([]uint32, branch.Entries())
	for code := range bits {
		bits[code] = u.bits[string(branch.Texts.At(int32(code)))]
	}
	of := func(row int32) (hour int, in uint32) {
		if code := branch.Codes[row]; code != parquet.Absent {
			in = bits[code]
		}
		return int((ts[row]/1000 - u.start) / rollup.Hour), in
	}
	ips, sessions := w.textsInHours(columns[2], rows, of), w.textsInHours(columns[3], rows, of)
	bytes := int64(len(ips)+len(sessions)) * textInHourBytes
	if err := u.run.reserve(bytes); err != nil {
		return err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.reserved += bytes
	u.ips, u.sessions = append(u.ips, ips...), append(u.sessions, sessions...)
	return nil
}

// textsInHours returns the texts of a column in each hour, given the hour and the branches of each row. Rows are in the
// order of time.
func (w *worker) textsInHours(
	values *parquet.ColumnValues, rows []int32, of func(row int32) (hour int, in uint32),
) (found []textInHour) {
	branches := make([]uint32, values.Entries())
	var met []int32
	flush := func(hour int) {
		for _, code := range met {
			text := w.run.textHash(values.Texts.At(code))
			found = append(found, textInHour{text.hash, text.check, uint32(hour)<<branchBits | branches[code]})
			branches[code] = 0
		}
		met = met[:0]
	}
	last := 0
	for _, row := range rows {
		hour, in := of(row)
		if hour != last {
			flush(last)
			last = hour
		}
		code := values.Codes[row]
		if code == parquet.Absent || in == 0 {
			continue
		}
		if branches[code] == 0 {
			met = append(met, code)
		}
		branches[code] |= in
	}
	flush(last)
	return found
}

// segmentsOfDay returns the segments of a day of all lengths, relative to its start.
func segmentsOfDay() (all []rollup.Segment) {
	for _, seconds := range rollup.Lengths {
		for start := int64(0); start < rollup.DayLength; start += seconds {
			all = append(all, rollup.Segment{Start: start, Seconds: seconds})
		}
	}
	return all
}

// unionsOf counts texts by their branches in each of some segments of a day. It sorts the texts.
func unionsOf(texts []textInHour, segments []rollup.Segment) []map[uint32]int64 {
	slices.SortFunc(texts, func(a, b textInHour) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.check, b.check))
	})
	counts := make([]map[uint32]int64, len(segments))
	for i := range counts {
		counts[i] = map[uint32]int64{}
	}
	for len(texts) > 0 {
		var byHour [hoursOfDay]uint32
		n := 0
		for n < len(texts) && texts[n].hash == texts[0].hash && texts[n].check == texts[0].check {
			byHour[texts[n].in>>branchBits] |= texts[n].in & (1<<branchBits - 1)
			n++
		}
		texts = texts[n:]
		for i, s := range segments {
			in := uint32(0)
			for _, of := range byHour[s.Start/rollup.Hour : (s.Start+s.Seconds)/rollup.Hour] {
				in |= of
			}
			if in != 0 {
				counts[i][in]++
			}
		}
	}
	return counts
}

func inBranches(counts map[uint32]int64) []rollup.InBranches {
	all := make([]rollup.InBranches, 0, len(counts))
	for branches, n := range counts {
		all = append(all, rollup.InBranches{Branches: branches, Texts: n})
	}
	slices.SortFunc(all, func(a, b rollup.InBranches) int { return cmp.Compare(a.Branches, b.Branches) })
	return all
}

// hasUnions reports whether the rollup of a day has the numbers of different addresses of several subsets together.
func hasUnions(day *rollup.Day, of []rollup.Subset) bool {
	return of[0].Field == rollup.BranchField && day.HasSection(rollup.UnionsName)
}

// unite replaces the numbers of different addresses and sessions, which do not add up, in the segments of one of
// several subsets of a day. The first subset gets the numbers of all of them together, and the others get none.
func (t *timeline) unite(found *segmentsOfRows, day *rolledUpDay, seconds int64) error {
	for i := range found.segments {
		found.segments[i].ips, found.segments[i].sessions = 0, 0
	}
	if day.Subset != day.together[0] {
		return nil
	}
	content, err := t.run.ownSection(*day.whole, rollup.UnionsName)
	if err != nil {
		return err
	}
	all, err := rollup.DecodeUnions(content)
	if err != nil {
		return unusable(err)
	}
	branches := day.whole.Branches().Bits(day.together)
	for _, u := range all {
		if u.Seconds != seconds {
			continue
		}
		s := segmentOfRows{start: u.Start}
		if s.ips, s.sessions = u.In(branches); s.ips > 0 || s.sessions > 0 {
			found.segments = append(found.segments, s)
		}
	}
	return nil
}
