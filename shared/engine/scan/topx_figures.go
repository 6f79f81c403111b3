package scan

import (
	"bytes"
	"math/bits"
	"slices"

	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

// figures holds the twenty figures of one key.
type figures struct {
	requests                 [2 * manyFlags]int64 // by their flags
	bytesSent, requestLength sum
	origin, svc, total       times
	codes                    [3]codeSet // of asn, country and organization, in one row group
	first                    [3]text    // their smallest texts
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
		if parts[n], err = k.winners(w, in); err != nil {
			return err
		}
	}
	for block := range slices.Chunk(rows, blockRows) {
		for n := range parts {
			if len(parts[n].places) > 0 {
				w.pairs.fill(&parts[n].of.keyColumn, block)
				w.pairs.number(parts[n].numbers)
				in.add(parts[n].figures, &w.pairs)
			}
		}
	}
	for n, k := range columns {
		for of := range parts[n].figures {
			parts[n].figures[of].settle(in)
		}
		k.join(&parts[n])
		for of, place := range parts[n].places {
			t.learn(i, slices.Index(t.keys, k), parts[n].hashes[of], knownKey{k.texts[place], &parts[n].figures[of]})
		}
	}
	t.storeAgain(i)
	return nil
}

// winners are the winners of a column that occur in a row group.
type winners struct {
	of      topKeys
	numbers []int32   // of the codes: the index of the winner, or parquet.Absent
	places  []int     // of the winners
	hashes  []uint64  // of the winners
	figures []figures // of the winners
}

// winners returns the winners of a row group, without figures yet. It checks that they, and the suspects, have the same
// texts as in other row groups.
func (k *keys) winners(w *worker, in *measures) (found winners, err error) {
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
	for code, number := range w.numbers {
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
		found.numbers[code] = int32(len(found.places))
		found.places, found.hashes = append(found.places, place), append(found.hashes, found.of.hashes[code])
		if k.texts[place] == nil {
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
	for i := range found.figures {
		in.begin(&found.figures[i])
	}
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
	texts                    [3]*parquet.ColumnValues
}

// codeSet is a set of codes of a dictionary.
type codeSet []uint64

func (s codeSet) add(code int32) { s[code/64] |= 1 << (code % 64) }

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
		texts:         [3]*parquet.ColumnValues(columns[5:8]),
		flags:         flags,
	}, nil
}

// begin gives figures the sets for the codes of the row group.
func (m *measures) begin(f *figures) {
	for i, values := range m.texts {
		f.codes[i] = make(codeSet, (values.Texts.Len()+63)/64)
	}
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
				to[numbers[i]].codes[n].add(code)
			}
		}
	}
}

func addTime(t *times, column *parquet.ColumnValues, row int32) {
	if len(column.Present) == 0 || column.Present[row] {
		t.add(column.Ints[row])
	}
}

// settle finds the smallest texts of a row group, whose codes are not needed after that.
func (f *figures) settle(in *measures) {
	for i, codes := range f.codes {
		f.first[i] = smallest(codes, &in.texts[i].Texts)
	}
	f.codes = [3]codeSet{}
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

// smallest returns the smallest of the entries that have the codes.
func smallest(codes codeSet, entries *parquet.Texts) (found text) {
	for i, word := range codes {
		for ; word != 0; word &= word - 1 {
			entry := entries.At(int32(64*i + bits.TrailingZeros64(word)))
			if !found.present || bytes.Compare(entry, found.bytes) < 0 {
				found = text{true, entry}
			}
		}
	}
	found.bytes = bytes.Clone(found.bytes)
	return found
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
