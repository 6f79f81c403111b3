package scan

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

// figures holds the twenty figures of one key.
type figures struct {
	requests                 [2 * manyFlags]int64 // by their flags
	bytesSent, requestLength sum
	origin, svc, total       times
	ahead                    [3]int32 // of the smallest asn, country and organization of a row group
	first                    [3]text  // these
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

// sumUp is the last pass over some columns of row group i. It counts a block of rows for all keys before it reads the
// next rows.
func (t *topX) sumUp(w *worker, i int, columns []*keys) error {
	rows, err := t.rowsOf(w, i)
	if err != nil || len(rows) == 0 {
		return err
	}
	in, err := w.measures()
	if err != nil {
		return err
	}
	parts := make([]winners, len(columns))
	for n, k := range columns {
		if parts[n], err = k.winners(w); err != nil {
			return err
		}
	}
	for block := range slices.Chunk(rows, blockRows) {
		for n := range parts {
			if len(parts[n].places) > 0 {
				w.pairs.fill(&parts[n].of.keyColumn, parts[n].numbers, block)
				in.add(parts[n].figures, &w.pairs)
			}
		}
	}
	for n, k := range columns {
		for of := range parts[n].figures {
			parts[n].figures[of].settle(in)
		}
		k.join(&parts[n])
		column := slices.Index(t.keys, k)
		for of, place := range parts[n].places {
			if place < len(k.texts) {
				t.learn(i, column, parts[n].hashes[of], knownKey{k.texts[place], &parts[n].figures[of]})
			}
		}
	}
	t.storeAgain(i)
	return nil
}

// winners are the winners of a column that occur in a row group.
type winners struct {
	of      topKeys
	numbers []int32   // the index of the winner of each code, as worker.number has them
	places  []int     // of the winners
	hashes  []uint64  // of the winners
	figures []figures // of the winners
}

// winners returns the winners of a row group, without figures yet. It checks that they, and the suspects, have the same
// texts as in other row groups.
func (k *keys) winners(w *worker) (found winners, err error) {
	if k.places.n == 0 {
		return found, nil
	}
	if found.of, err = w.topKeys(k.column); err != nil {
		return found, err
	}
	places := w.number(&found.of, &k.places)
	if len(places) == 0 {
		return found, nil
	}
	found.numbers = slices.Repeat([]int32{parquet.Absent}, len(w.numbers))
	k.mu.Lock()
	defer k.mu.Unlock()
	for code, number := range w.numbers[1:] {
		if number == parquet.Absent {
			continue
		}
		place := places[number]
		if err := k.checks[place].compare(found.of.checks[code]); err != nil {
			return found, err
		}
		if place >= len(k.figures) {
			continue
		}
		found.numbers[code+1] = int32(len(found.places))
		found.places, found.hashes = append(found.places, place), append(found.hashes, found.of.hashes[code])
		if place < len(k.texts) && k.texts[place] == nil {
			if err := found.of.readTexts(w); err != nil {
				return found, err
			}
			k.texts[place] = copyOf(found.of.entries.At(int32(code)))
			if err := w.run.reserve(int64(len(k.texts[place]))); err != nil {
				return found, err
			}
		}
	}
	if len(found.places) > 0 {
		err = found.of.readCodes(w)
	}
	found.figures = make([]figures, len(found.places))
	return found, err
}

// join adds the figures of the winners in a row group to their figures in the other row groups.
func (k *keys) join(found *winners) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, place := range found.places {
		k.figures[place].join(&found.figures[i])
	}
}

// measures holds the columns of a row group from which figures are made.
type measures struct {
	bytesSent, requestLength []int64
	origin, svc, total       *parquet.ColumnValues
	flags                    []uint8 // of each row
	texts                    [3]orderedTexts
}

// orderedTexts are the texts of a column in a row group.
type orderedTexts struct {
	*parquet.ColumnValues
	order []int32 // codes, the largest text first
	ahead []int32 // of each code: how many texts are larger, plus one
}

func ordered(values *parquet.ColumnValues) orderedTexts {
	type entry struct {
		first uint64 // the first eight bytes, by which most texts differ
		code  int32
	}
	entries := make([]entry, values.Texts.Len())
	for code := range entries {
		var first [8]byte
		copy(first[:], values.Texts.At(int32(code)))
		entries[code] = entry{binary.BigEndian.Uint64(first[:]), int32(code)}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		if a.first != b.first {
			return cmp.Compare(b.first, a.first)
		}
		return bytes.Compare(values.Texts.At(b.code), values.Texts.At(a.code))
	})
	t := orderedTexts{values, make([]int32, len(entries)), make([]int32, len(entries))}
	for i, of := range entries {
		t.order[i], t.ahead[of.code] = of.code, int32(i)+1
	}
	return t
}

func (w *worker) measures() (*measures, error) {
	columns, err := w.all("bytes_sent", "request_length", "origin_us", "svc_us", "total_us",
		"asn", "country", "organization", "bot")
	if err != nil {
		return nil, err
	}
	flags, err := w.flags()
	if err != nil {
		return nil, err
	}
	flags = slices.Clone(flags)
	addFlag(flags, isBot, columns[8])
	return &measures{
		bytesSent:     columns[0].Ints,
		requestLength: columns[1].Ints,
		origin:        columns[2],
		svc:           columns[3],
		total:         columns[4],
		texts:         [3]orderedTexts{ordered(columns[5]), ordered(columns[6]), ordered(columns[7])},
		flags:         flags,
	}, nil
}

// add counts rows. p.codes are the indexes of their figures.
func (m *measures) add(to []figures, p *pairs) {
	rows, numbers := p.rows, p.codes
	for i, row := range rows {
		f := &to[numbers[i]]
		f.requests[m.flags[row]]++
		f.bytesSent.add(m.bytesSent[row])
		f.requestLength.add(m.requestLength[row])
	}
	for i, row := range rows {
		addTime(&to[numbers[i]].origin, m.origin, row)
	}
	for i, row := range rows {
		addTime(&to[numbers[i]].svc, m.svc, row)
	}
	for i, row := range rows {
		addTime(&to[numbers[i]].total, m.total, row)
	}
	for n, values := range m.texts {
		for i, row := range rows {
			if code := values.Codes[row]; code != parquet.Absent {
				f := &to[numbers[i]]
				f.ahead[n] = max(f.ahead[n], values.ahead[code])
			}
		}
	}
}

func addTime(t *times, column *parquet.ColumnValues, row int32) {
	if len(column.Present) == 0 || column.Present[row] {
		t.add(column.Ints[row])
	}
}

// settle takes the smallest texts of a row group.
func (f *figures) settle(in *measures) {
	for i, ahead := range f.ahead {
		if ahead > 0 {
			of := &in.texts[i]
			f.first[i] = text{true, bytes.Clone(of.Texts.At(of.order[ahead-1]))}
		}
	}
}

// join adds the figures of a row group to the figures of the other row groups.
func (f *figures) join(other *figures) {
	for flags, n := range other.requests {
		f.requests[flags] += n
	}
	f.bytesSent.join(other.bytesSent)
	f.requestLength.join(other.requestLength)
	f.origin.join(other.origin)
	f.svc.join(other.svc)
	f.total.join(other.total)
	for i, text := range other.first {
		if of := &f.first[i]; text.present && (!of.present || bytes.Compare(text.bytes, of.bytes) < 0) {
			*of = text
		}
	}
}

// count returns the number of requests that have any of the flags.
func (f *figures) count(any uint8) (n int64) {
	for flags, of := range f.requests {
		if uint8(flags)&any != 0 {
			n += of
		}
	}
	return n
}

func (f *figures) row(label, key string) query.TopXRow {
	flagged := f.count(isBlocked | isBot | isChallenged | isHuman | isMonitored)
	return query.TopXRow{
		Label:             label,
		Key:               key,
		Requests:          f.requests[0] + flagged,
		Blocked:           f.count(isBlocked),
		Bots:              f.count(isBot),
		Challenges:        f.count(isChallenged),
		Human:             f.count(isHuman),
		Monitored:         f.count(isMonitored),
		BytesSent:         f.bytesSent.whole(),
		RequestLength:     f.requestLength.whole(),
		Origin:            f.origin.result(),
		Svc:               f.svc.result(),
		Total:             f.total.result(),
		FirstASN:          string(f.first[0].bytes),
		FirstCountry:      string(f.first[1].bytes),
		FirstOrganization: string(f.first[2].bytes),
	}
}

func (t *times) result() query.Times {
	return query.Times{Count: t.count, Sum: t.sum.whole(), Min: t.min, Max: t.max}
}
