package scan

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/rollup"
)

// listKeys lists the keys of the columns of topx with some labels; nil: with all.
func (r *run) listKeys(ctx context.Context, groups []*group, labels []string, lists *rollup.Lists) error {
	t := newTopX(r, query.TopX{Limit: r.sizes.blocked, Labels: labels}, nil, groups)
	for i := range t.found {
		t.found[i] = true // and its rows can be read again
	}
	columns := make([]*listedKeys, len(t.keys))
	counts := countedLists[keyCounts]{run: r}
	for i, k := range t.keys {
		columns[i] = &listedKeys{dividedKeys: dividedKeys{keys: k, texts: newCounted[keyCounts](keyCountsBytes)}}
		counts.all = append(counts.all, &columns[i].texts)
	}
	err := counts.eachPart(func(open []int) error {
		err := r.scan(ctx, groups, func(w *worker, i int) error {
			rows, err := t.rowsOf(w, i)
			if err != nil {
				return err
			}
			return counts.count(open, func(n int) (int64, error) { return columns[n].count(w, rows) })
		})
		if err != nil {
			return err
		}
		return r.each(ctx, len(open), func(_ *worker, i int) error { return columns[open[i]].take() })
	})
	if err != nil {
		return err
	}
	for _, of := range columns {
		if err := of.choose(); err != nil {
			return err
		}
	}
	all := func(int) bool { return true }
	if err := r.scanSome(ctx, groups, all, func(w *worker, i int) error { return t.sumUp(w, i, t.keys) }); err != nil {
		return err
	}
	for _, of := range columns {
		listed, err := of.listed()
		if err != nil {
			return err
		}
		lists.AddKeys(of.column, listed)
	}
	return nil
}

// listedKeys are all keys of a column in a day.
type listedKeys struct {
	dividedKeys
	all     []listedKey
	slowest [3]rollup.Slowest
	hasRest bool // there is a section with the figures of all keys, unless they are too many
}

type listedKey struct {
	textHash
	keyCounts
}

// take takes the keys of a part.
func (l *listedKeys) take() error {
	const listedKeyBytes = keyCountsBytes + textHashBytes
	hashes := l.texts.table.hashes()
	if err := l.run.reserve(int64(len(hashes)) * listedKeyBytes); err != nil {
		return err
	}
	for place, hash := range hashes {
		l.all = append(l.all, listedKey{hash, l.texts.counts[place]})
	}
	return nil
}

// choose chooses the keys whose figures are listed.
func (l *listedKeys) choose() error {
	slices.SortFunc(l.all, func(a, b listedKey) int { return cmp.Compare(a.hash, b.hash) })
	for i := 1; i < len(l.all); i++ {
		if l.all[i-1].hash == l.all[i].hash {
			return fmt.Errorf("%w: two keys have the same hash", ErrUnsupported)
		}
	}
	take := func(n int, compare func(a, b *listedKey) int) {
		var first []*listedKey
		for i := range l.all {
			first = insertFirst(first, &l.all[i], n, compare)
		}
		for _, key := range first {
			l.spares = append(l.spares, key.hash)
		}
	}
	byBlocked := func(a, b *listedKey) int {
		return cmp.Or(cmp.Compare(b.blocked, a.blocked), cmp.Compare(b.requests, a.requests))
	}
	if before := l.run.blockedBefore(l.column); before == nil {
		take(l.run.sizes.known/2, byBlocked)
	} else {
		quarter := max(1, l.run.sizes.known/4)
		take(quarter, byBlocked)
		take(quarter, func(a, b *listedKey) int {
			return cmp.Or(cmp.Compare(b.blocked+before[b.hash], a.blocked+before[a.hash]), byBlocked(a, b))
		})
	}
	take(l.run.sizes.known/2, func(a, b *listedKey) int { return cmp.Compare(b.requests, a.requests) })
	for time := range l.slowest {
		found, err := l.slowestBy(time)
		if err != nil {
			return err
		}
		l.slowest[time] = found
		for _, key := range found.Keys {
			l.spares = append(l.spares, key.First)
		}
	}
	n := len(l.all)
	l.hasRest = l.run.sizes.rest > 0 && l.timed
	if l.hasRest && n <= l.run.sizes.rest && l.run.spare(int64(n)*listedFiguresBytes, l.run.memory/2) {
		for _, key := range l.all {
			l.rest = append(l.rest, key.hash)
		}
	}
	return l.placeWinners()
}

// listedFiguresBytes is the memory of a key while the figures of all keys are listed: its figures in the day and in the
// row groups that are being read, and those of the list.
const listedFiguresBytes = 3*figuresBytes + restBytes

// DaysBefore is the number of days before a day whose rollups tell which keys are likely to be winners of long periods.
const DaysBefore = 28

// before returns the rollups of a subset of the days before a day or a week.
func (r *Rollups) before(start int64, subset rollup.Subset) (days []rolledUpDay) {
	if r == nil || r.folder == "" {
		return nil
	}
	for n := range int64(DaysBefore) {
		of := start - (n+1)*rollup.DayLength
		path := r.folder.Path(of, subset)
		if day, version := r.day(nil, path, of); day != nil && day.HashID == r.KeyID() && day.Subset == subset {
			days = append(days, rolledUpDay{Day: day, path: path, version: version})
		}
	}
	return days
}

// blockedBefore returns the numbers of blocked requests of the keys of a column in the days before; nil: there are
// none. A key that is among the first in long periods may be one of thousands with a single blocked request in this
// day. If its figures are listed nevertheless, questions about long periods need not read the records of the day. What
// cannot be read is left out, because no answer depends on it.
func (r *run) blockedBefore(column string) map[uint64]int64 {
	var blocked map[uint64]int64
	var buffer []byte
	for _, day := range r.before {
		content, err := r.section(day, rollup.TalliesName(column), buffer)
		if err != nil {
			continue
		}
		buffer = content
		tallies, err := rollup.DecodeTallies(content)
		if err != nil || len(blocked) > mostBefore {
			continue
		}
		if blocked == nil {
			blocked = map[uint64]int64{}
		}
		for i := range tallies.Len() {
			if t := tallies.At(i); t.Blocked > 0 {
				blocked[t.First] += int64(t.Blocked)
			}
		}
	}
	return blocked
}

// mostBefore is about the most keys that are counted in the days before. They take some 40 MB.
const mostBefore = 1 << 20

// slowestBy returns the slowest keys by a time.
func (l *listedKeys) slowestBy(time int) (found rollup.Slowest, _ error) {
	type average struct {
		value float64
		hash  textHash
	}
	var all []average
	for _, key := range l.all {
		t := key.times[time]
		if !t.sum.fits() || t.sum.high < 0 {
			return found, errLongTimes
		}
		if t.count > 0 {
			all = append(all, average{query.Times{Count: t.count, Sum: t.sum.whole()}.Average(), key.textHash})
		}
	}
	slices.SortFunc(all, func(a, b average) int {
		return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.hash.hash, b.hash.hash))
	})
	for _, a := range all[:min(len(all), l.run.sizes.slowest)] {
		found.Keys = append(found.Keys, rollup.SlowKey{Hash: a.hash.rolledUp(), Average: a.value})
	}
	found.Others = math.Inf(-1)
	if len(all) > l.run.sizes.slowest {
		found.Others = all[l.run.sizes.slowest].value
	}
	return found, nil
}

// listed returns the keys for the lists.
func (l *listedKeys) listed() (keys rollup.Keys, _ error) {
	blocked := 0
	for _, key := range l.all {
		if key.requests > math.MaxInt32 {
			return keys, fmt.Errorf("%w: a key has %d requests", ErrUnsupported, key.requests)
		}
		if key.blocked > 0 {
			blocked++
		}
	}
	keys.All, keys.Slowest, keys.Timed = blocked < l.run.sizes.blocked, l.slowest, l.timed
	for _, key := range l.all {
		keys.Members = append(keys.Members, key.member())
		if keys.All || key.blocked > 0 {
			keys.Tallies = append(keys.Tallies, rollup.Tally{
				First: key.hash, Requests: uint32(key.requests), Blocked: uint32(key.blocked),
			})
		}
	}
	for place, hash := range l.places.hashes()[:len(l.keys.texts)] {
		hash.check = l.checks[place].hash
		keys.Known = append(keys.Known, l.figures[place].rolledUp(hash, l.keys.texts[place]))
	}
	if l.hasRest {
		keys.Rest = l.listedRest()
	}
	return keys, nil
}

// listedRest returns the figures of all keys but those that are known; none if they need too much memory.
func (l *listedKeys) listedRest() []rollup.Key {
	if len(l.figures) < len(l.all) {
		return []rollup.Key{}
	}
	rest := make([]rollup.Key, len(l.all))
	for i, key := range l.all {
		rest[i].Hash = key.rolledUp()
		if place := l.places.place(key.hash); place >= len(l.keys.texts) {
			rest[i] = l.figures[place].rolledUp(key.textHash, nil)
		}
	}
	return rest
}

// member returns the key with bounds of its times.
func (l *listedKey) member() rollup.Member {
	m := rollup.Member{Hash: l.rolledUp()}
	for time, of := range l.times {
		if of.count > 0 {
			m.Averages[time] = rollup.BoundOf(query.Times{Count: of.count, Sum: of.sum.whole()}.Average())
			m.Counts[time] = rollup.CountBoundOf(of.count)
		}
	}
	return m
}

// rolledUp returns a key with its figures for the lists.
func (f *figures) rolledUp(hash textHash, text []byte) rollup.Key {
	key := rollup.Key{
		Hash: hash.rolledUp(), Text: string(text), BytesSent: f.bytesSent.rolledUp(), RequestLength: f.requestLength.rolledUp(),
		Origin: f.origin.rolledUp(), Svc: f.svc.rolledUp(), Total: f.total.rolledUp(),
	}
	for flags, n := range f.requests {
		if n > 0 {
			key.Requests = append(key.Requests, rollup.FlagCount{Flags: uint8(flags), Count: n})
		}
	}
	for i, first := range f.first {
		if first.present {
			text := string(first.bytes)
			key.First[i] = &text
		}
	}
	return key
}

func (t *times) rolledUp() rollup.Times {
	return rollup.Times{Sum: t.sum.rolledUp(), Count: t.count, Min: t.min, Max: t.max}
}

// figuresOf returns the figures of a key of the lists.
func figuresOf(k *rollup.Key) *figures {
	f := &figures{
		bytesSent: sumOf(k.BytesSent), requestLength: sumOf(k.RequestLength),
		origin: timesOf(k.Origin), svc: timesOf(k.Svc), total: timesOf(k.Total),
	}
	for _, n := range k.Requests {
		f.requests[n.Flags%(2*manyFlags)] = n.Count
	}
	for i, first := range k.First {
		if first != nil {
			f.first[i] = text{true, []byte(*first)}
		}
	}
	return f
}

func timesOf(t rollup.Times) times {
	return times{sum: sumOf(t.Sum), count: t.Count, min: t.Min, max: t.Max}
}
