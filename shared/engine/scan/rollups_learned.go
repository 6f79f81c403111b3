package scan

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/rollup"
)

func (t *topX) learnedKey(key dayKey) learnedKey {
	return learnedKey{t.days[key.day].version, t.keys[key.column].column, key.hash}
}

// mostLearnedDays is the most days from whose records figures of keys are read if another engine can answer. The days
// are read one after the other, which takes long from object storage.
const mostLearnedDays = 8

// readKeys learns the figures of keys, if possible from the rollups of their days, otherwise from the records. If named,
// it also learns their texts, which only records have.
func (t *topX) readKeys(ctx context.Context, all []dayKey, named bool) error {
	if !named {
		var err error
		if all, err = t.readRests(ctx, all); err != nil {
			return err
		}
	}
	byDay, byPart := map[int][]dayKey{}, map[int][]dayKey{}
	for _, key := range all {
		if t.days[key.day].part != nil {
			byPart[key.day] = append(byPart[key.day], key)
		} else {
			byDay[key.day] = append(byDay[key.day], key)
		}
	}
	if n := len(byDay); n > mostLearnedDays && t.run.options.OnlyRollups {
		return fmt.Errorf("%w: the figures of some keys must be read from the records of %d days", ErrUnsupported, n)
	}
	for d, keys := range byDay {
		if days := t.run.daysOf(&t.days[d]); days != nil {
			if err := t.readWeek(ctx, days, keys, named); err != nil {
				return err
			}
			continue
		}
		if err := t.readDay(ctx, &t.days[d], keys); err != nil {
			return err
		}
	}
	return t.askKeys(ctx, byPart)
}

// readRests learns the figures of keys of days whose rollups have a Rest. It returns the keys that it did not find.
func (t *topX) readRests(ctx context.Context, all []dayKey) (others []dayKey, _ error) {
	byColumn := map[dayColumn][]dayKey{}
	for _, key := range all {
		of := dayColumn{key.day, key.column}
		if has, _ := t.days[of.day].HasRest(t.keys[of.column].column); has {
			byColumn[of] = append(byColumn[of], key)
		} else {
			others = append(others, key)
		}
	}
	listed := slices.Collect(maps.Keys(byColumn))
	var mu sync.Mutex
	err := t.run.each(ctx, len(listed), func(w *worker, i int) error {
		of := listed[i]
		keys, err := w.keysOfDay(t, of.day, of.column)
		if err != nil {
			return err
		}
		held := reservation{run: t.run}
		defer held.free()
		rest, err := t.restOf(&keys, &held)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for _, wanted := range byColumn[of] {
			place, _, _ := keys.members.Find(wanted.hash)
			if key, found := rest.At(place, wanted.hash); found {
				t.remember(wanted, &key)
			} else {
				others = append(others, wanted)
			}
		}
		return nil
	})
	return others, err
}

// restBytes is the memory of a key of a Rest.
const restBytes = 320

// restOf returns the Rest of the keys of a column in a day; none if the day has none. held holds its memory.
func (t *topX) restOf(keys *keysOfDay, held *reservation) (rest rollup.Rest, _ error) {
	day, column := t.days[keys.day], t.keys[keys.column].column
	if has, _ := day.HasRest(column); !has {
		return rest, nil
	}
	if err := held.hold(int64(keys.members.Len()) * restBytes); err != nil {
		return rest, err
	}
	content, err := t.run.ownSection(day, rollup.RestName(column))
	if err != nil {
		return rest, err
	}
	rest, err = rollup.DecodeRest(content)
	return rest, unusable(err)
}

// readDay learns the figures of keys of a day from its records.
func (t *topX) readDay(ctx context.Context, day *rolledUpDay, keys []dayKey) error {
	r := t.run
	if day.Subset != (rollup.Subset{}) && len(r.subsets) > 1 { // the query is about others, too
		own, err := r.ofSubset(ctx, day.Subset)
		if err != nil {
			return err
		}
		defer own.giveBack()
		r = own
	}
	if err := r.open(ctx, day); err != nil {
		return err
	}
	if r != t.run {
		t.run.opened, r.opened = append(t.run.opened, r.opened...), nil
	}
	wanted := map[string][]uint64{}
	for _, key := range keys {
		column := t.keys[key.column].column
		wanted[column] = append(wanted[column], key.hash)
	}
	of, err := r.learnKeys(ctx, t.shape, day.groups, wanted)
	if err != nil {
		return err
	}
	r.releaseDay(*day)
	for _, key := range keys {
		t.remember(key, of.keys[key.column].keyOf(key.hash))
	}
	for _, k := range of.keys {
		k.ranks.free()
	}
	return nil
}

// readWeek learns the figures of keys of a week from the rollups of its days, and from the records of those that lack
// them.
func (t *topX) readWeek(ctx context.Context, days []rolledUpDay, wanted []dayKey, named bool) error {
	of := newTopX(t.run, t.shape, days, nil)
	tables := make([]hashTable, len(of.keys)) // of the wanted keys of each column
	for _, key := range wanted {
		tables[key.column].add(key.hash)
	}
	found := make([][]rollup.Key, len(of.keys)) // by place; without requests: no day has the key
	for n := range found {
		found[n] = make([]rollup.Key, tables[n].n)
	}
	var mu sync.Mutex
	err := of.eachOfDays(ctx, keysInDays{
		columns: func(n int) bool { return tables[n].n > 0 },
		hashes:  func(n int) []textHash { return tables[n].hashes() },
		named:   named,
		add: func(n, place int, key *rollup.Key) error {
			mu.Lock()
			defer mu.Unlock()
			return addKey(&found[n][place], key)
		},
	})
	if err != nil {
		return err
	}
	for _, key := range wanted {
		learned := &found[key.column][tables[key.column].place(key.hash)]
		if len(learned.Requests) == 0 {
			learned = nil
		}
		t.remember(key, learned)
	}
	return nil
}

// addKey adds a key of another day. sum has no requests if there was none before.
func addKey(sum, key *rollup.Key) error {
	if len(sum.Requests) == 0 {
		*sum = *key
		return nil
	}
	named := sum
	if sum.Nameless {
		named = key
	} else if !key.Nameless {
		check := keyCheck{sum.Check, true}
		if err := check.compare(key.Check); err != nil {
			return err
		}
	}
	nameless := named.Nameless
	figures := figuresOf(sum)
	figures.join(figuresOf(key))
	*sum = figures.rolledUp(textHash{key.Hash.First, named.Check}, []byte(named.Text))
	sum.Nameless = nameless
	return nil
}

// remember keeps a key of a day with its figures; nil: the day does not have it.
func (t *topX) remember(key dayKey, learned *rollup.Key) {
	t.learned[key] = learned
	t.run.rollups.learned.add(t.learnedKey(key), learned, figuresBytes)
}

// learnKeys makes the figures of the keys of columns with these hashes in row groups.
func (r *run) learnKeys(
	ctx context.Context, shape query.TopX, groups []*group, wanted map[string][]uint64,
) (*topX, error) {
	t := newTopX(r, shape, nil, groups)
	for i := range t.found {
		t.found[i] = true // and its rows can be read
	}
	for _, k := range t.keys {
		k.spares = wanted[k.column]
	}
	return t, t.sumUpSpares(ctx)
}

// sumUpSpares makes the figures of the spare keys. They are few, so it first finds the row groups that have any of
// them.
func (t *topX) sumUpSpares(ctx context.Context) error {
	var open []*keys
	var columns []string
	for _, k := range t.keys {
		if len(k.spares) == 0 {
			continue
		}
		if err := k.placeWinners(); err != nil {
			return err
		}
		open, columns = append(open, k), append(columns, k.column)
	}
	found := make([]bool, len(t.groups))
	err := t.run.scanColumns(ctx, t.groups, columns, func(w *worker, i int) error {
		for _, k := range open {
			of, err := w.topKeys(k.column)
			if err != nil {
				return err
			}
			found[i] = found[i] || len(w.number(&of, &k.places)) > 0
		}
		return nil
	})
	if err != nil {
		return err
	}
	return t.run.scanSome(ctx, t.groups, func(i int) bool { return found[i] }, func(w *worker, i int) error {
		return t.sumUp(w, i, open)
	})
}

// keyOf returns a key with its figures, or nil if it has no requests.
func (k *keys) keyOf(hash uint64) *rollup.Key {
	place := k.places.place(hash)
	if k.texts[place] == nil {
		return nil
	}
	key := k.figures[place].rolledUp(textHash{hash, k.checks[place].hash}, k.texts[place])
	return &key
}
