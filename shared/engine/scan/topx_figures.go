package scan

import (
	"bytes"
	"slices"

	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

// figures holds the twenty figures of one key.
type figures struct {
	requests, blocked, bots, challenges, human, monitored int64
	bytesSent, requestLength                              sum
	origin, svc, total                                    times
	// The smallest texts of a row group as their ranks plus one; 0: no record has a text. In the order of first.
	ranks [3]int32
	first [3]text // asn, country, organization
}

// text is a text that may be absent.
type text struct {
	present bool
	bytes   []byte
}

// times holds the figures of durations.
type times struct {
	sum      sum
	count    int64
	min, max int64
}

func (t *times) add(n int64) {
	if t.count == 0 {
		t.min, t.max = n, n
	}
	t.count++
	t.sum.add(n)
	t.min, t.max = min(t.min, n), max(t.max, n)
}

func (t *times) join(other times) {
	if other.count == 0 {
		return
	}
	if t.count == 0 {
		*t = other
		return
	}
	t.count += other.count
	t.sum.join(other.sum)
	t.min, t.max = min(t.min, other.min), max(t.max, other.max)
}

// sumUp is the second pass over row group i.
func (t *topX) sumUp(w *worker, i int) error {
	rows := t.chosen[i]
	if len(rows) == 0 {
		return nil
	}
	in, err := w.measures()
	if err != nil {
		return err
	}
	for n := range t.keys {
		k := t.keys[(n+i)%len(t.keys)]
		places := make([]int32, len(k.numbers[i])) // in k.figures, by code
		any := false
		for code, number := range k.numbers[i] {
			places[code] = parquet.Absent
			if number != parquet.Absent {
				places[code] = k.places[number]
				any = any || places[code] != parquet.Absent
			}
		}
		if !any {
			continue
		}
		of, err := w.keysOf(k.column)
		if err != nil {
			return err
		}
		local := make([]figures, len(k.figures))
		of.each(rows, func(row, code int32) {
			if place := places[code]; place != parquet.Absent {
				in.add(&local[place], row)
			}
		})
		k.mu.Lock()
		for place := range local {
			k.figures[place].join(&local[place], in)
		}
		k.mu.Unlock()
	}
	return nil
}

// measures holds the columns of a row group from which figures are made.
type measures struct {
	bytesSent, requestLength []int64
	origin, svc, total       *parquet.ColumnValues
	flags                    []uint8 // of each row
	texts                    [3]*parquet.ColumnValues
	ranks, byRank            [3][]int32 // the rank of each entry of texts, and the entry of each rank
}

const isBlocked, isBot, isChallenged, isHuman, isMonitored = 1, 2, 4, 8, 16

func (w *worker) measures() (*measures, error) {
	columns, err := w.all("bytes_sent", "request_length", "origin_us", "svc_us", "total_us",
		"asn", "country", "organization",
		"blocked", "bot", "challenge", "ichallenge", "human", "monitor", "monitor_reasons")
	if err != nil {
		return nil, err
	}
	m := &measures{
		bytesSent:     columns[0].Ints,
		requestLength: columns[1].Ints,
		origin:        columns[2],
		svc:           columns[3],
		total:         columns[4],
		texts:         [3]*parquet.ColumnValues(columns[5:8]),
		flags:         make([]uint8, len(columns[8].Flags)),
	}
	for i, flag := range []uint8{isBlocked, isBot, isChallenged, isChallenged, isHuman, isMonitored} {
		for row, is := range columns[8+i].Flags {
			if is == 1 {
				m.flags[row] |= flag
			}
		}
	}
	reasons := columns[14].Starts
	for row := range m.flags {
		if reasons[row] < reasons[row+1] {
			m.flags[row] |= isMonitored
		}
	}
	for i, values := range m.texts {
		m.ranks[i], m.byRank[i] = ranked(&values.Texts)
	}
	return m, nil
}

// ranked sorts the entries of a dictionary. ranks holds the rank of each entry, byRank the entry of each rank.
func ranked(entries *parquet.Texts) (ranks, byRank []int32) {
	byRank = make([]int32, entries.Len())
	for i := range byRank {
		byRank[i] = int32(i)
	}
	slices.SortFunc(byRank, func(a, b int32) int { return bytes.Compare(entries.At(a), entries.At(b)) })
	ranks = make([]int32, len(byRank))
	for rank, code := range byRank {
		ranks[code] = int32(rank)
	}
	return ranks, byRank
}

// add counts a row.
func (m *measures) add(f *figures, row int32) {
	f.requests++
	flags := m.flags[row]
	f.blocked += int64(flags & isBlocked)
	f.bots += int64(flags & isBot / isBot)
	f.challenges += int64(flags & isChallenged / isChallenged)
	f.human += int64(flags & isHuman / isHuman)
	f.monitored += int64(flags & isMonitored / isMonitored)
	f.bytesSent.add(m.bytesSent[row])
	f.requestLength.add(m.requestLength[row])
	addTime(&f.origin, m.origin, row)
	addTime(&f.svc, m.svc, row)
	addTime(&f.total, m.total, row)
	for i, values := range m.texts {
		if code := values.Codes[row]; code != parquet.Absent {
			if rank := m.ranks[i][code] + 1; f.ranks[i] == 0 || rank < f.ranks[i] {
				f.ranks[i] = rank
			}
		}
	}
}

func addTime(t *times, column *parquet.ColumnValues, row int32) {
	if len(column.Present) == 0 || column.Present[row] {
		t.add(column.Ints[row])
	}
}

// join adds the figures of a row group to those of other row groups.
func (f *figures) join(other *figures, in *measures) {
	f.requests += other.requests
	f.blocked += other.blocked
	f.bots += other.bots
	f.challenges += other.challenges
	f.human += other.human
	f.monitored += other.monitored
	f.bytesSent.join(other.bytesSent)
	f.requestLength.join(other.requestLength)
	f.origin.join(other.origin)
	f.svc.join(other.svc)
	f.total.join(other.total)
	for i, rank := range other.ranks {
		if rank == 0 {
			continue
		}
		smallest := in.texts[i].Texts.At(in.byRank[i][rank-1])
		if first := &f.first[i]; !first.present || bytes.Compare(smallest, first.bytes) < 0 {
			*first = text{true, bytes.Clone(smallest)}
		}
	}
}

func (f *figures) row(label, key string) (query.TopXRow, error) {
	return query.TopXRow{
		Label:             label,
		Key:               key,
		Requests:          f.requests,
		Blocked:           f.blocked,
		Bots:              f.bots,
		Challenges:        f.challenges,
		Human:             f.human,
		Monitored:         f.monitored,
		BytesSent:         f.bytesSent.n,
		RequestLength:     f.requestLength.n,
		Origin:            f.origin.result(),
		Svc:               f.svc.result(),
		Total:             f.total.result(),
		FirstASN:          string(f.first[0].bytes),
		FirstCountry:      string(f.first[1].bytes),
		FirstOrganization: string(f.first[2].bytes),
	}, whole(f.bytesSent, f.requestLength, f.origin.sum, f.svc.sum, f.total.sum)
}

func (t *times) result() query.Times {
	return query.Times{Count: t.count, Sum: t.sum.n, Min: t.min, Max: t.max}
}
