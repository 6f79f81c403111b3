package cloud_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/blob/blobtest"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/cloud"
	"github.com/orrery/orrery/shared/ingest/cloud/arrivals"
	"github.com/orrery/orrery/shared/ingest/cloud/compaction"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/ingest/ledger"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/lakestate/bundle"
	"github.com/orrery/orrery/shared/table/tabletest"
	"github.com/orrery/orrery/shared/testkit/testlevel"
)

// TestAnyInterleaving runs imports, compactions and readers step by step in a random order. A step is one call of a
// store or of the table. A process may die before or after any step, and any call may fail or lose its response. Every
// reader must see each row of the imports that were complete when it read the state exactly once, and no row twice. It
// must see all rows of the logs that were put before the time to which the state is complete. As long as a day has the
// same version, the rows of the day that a reader must see are the same. At the end, when every log has been delivered
// again, the lake must have every row exactly once, and no object the values of others in its lists. The columns of the
// hours that readers take for counted must have the sizes that they have in the objects.
//
// In half of the plays, objects that readers read get damaged. A reader that fails at one reports it. The others may
// lack the rows of objects that their answer names as lost, and no others. At the end every row must be rebuilt.
//
// ORRERY_TEST_SEEDS is the number of seeds. ORRERY_TEST_SEED selects a single seed.
func TestAnyInterleaving(t *testing.T) {
	first, n := 0, testlevel.Of(2, 4, 8)
	if text := os.Getenv("ORRERY_TEST_SEEDS"); text != "" {
		n = number(t, text)
	}
	if text := os.Getenv("ORRERY_TEST_SEED"); text != "" {
		first, n = number(t, text), 1
	}
	var sum tally
	for seed := first; seed < first+n; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { newPlay(t, uint64(seed)).run(&sum) })
	}
	t.Logf("%+v", sum)
	missing := sum.Damaged == 0 || sum.Rebuilt == 0 || sum.Incomplete == 0 || sum.Complete == 0 ||
		sum.Reconciled == 0 || sum.Killed == 0 || sum.Failed == 0 || sum.Lost == 0 || sum.Late == 0 ||
		sum.Swept == 0 || sum.Unchanged == 0 || sum.Bundled == 0 || sum.Listed < n || sum.Counted < n || sum.DayCounts < n
	if n >= 8 && (missing || sum.Compared < 10*n) {
		t.Errorf("too few events happened: %+v", sum)
	}
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// tally counts the events of all plays.
type tally struct {
	Steps, Killed, Failed, Lost, Readers, Compared, Late, Hours, Swept int

	Complete, Held, Reconciled   int
	Carried                      int // comparisons that a run has completed which was cut off itself
	Damaged, Rebuilt, Incomplete int
	Unchanged                    int // days that a reader has found again as they were, after changes of others
	Bundled                      int // bundles that readers read
	Listed                       int // objects that have their lists of values at the end
	Counted                      int // hours whose columns have their sizes at the end
	DayCounts                    int // counts of days that were compared with the objects
}

// play is one run of a deployment under a scheduler, which lets one actor at a time make one step.
type play struct {
	t      *testing.T
	random *rand.Rand
	sum    tally
	time   time.Time
	raw    *blobtest.Memory
	lake   *blobtest.Memory
	table  lakestate.Table
	logs   map[string][]string // ids of the lines of each log, by key; "" for the blank line
	days   map[string]lake.Day // of the rows, by id
	known  map[dayVersion][]string
	texts  map[string]string
	put    map[string]time.Time // when each log was put into the bucket
	queue  map[string]time.Time // when the message about each log was sent, until it is deleted
	todo   []work
	looks  int
	actors []*actor
	calm   bool // no more faults happen

	oneFamily bool // all logs begin with the same line

	damaging bool                // objects get damaged
	damaged  map[string][]string // the ids of the rows of the objects that were damaged, by lake.NameOf
}

// maxDamaged is the number of objects that get damaged in one play.
const maxDamaged = 4

// actor is a process. Its work runs in a goroutine that waits before every step.
type actor struct {
	play   *play
	name   string
	began  time.Time
	reader bool
	// bundles says that it reads bundles in place of their members.
	bundles bool
	dead    bool
	turn    chan verdict
	yield   chan bool // true if it waits for its next step; false if it has ended
}

// verdict is the outcome of a step.
type verdict int

const (
	goOn       verdict = iota
	failBefore         // the step is not made and returns an error
	failAfter          // the step is made but returns an error
	dieBefore
	dieAfter
)

var (
	errFault  = errors.New("a fault of the play")
	errKilled = errors.New("the process is dead")
)

// playTime is when a play begins. The rows are of the hours before and after midnight.
var playTime = testTime.Add(12 * time.Hour)

func newPlay(t *testing.T, seed uint64) *play {
	p := &play{
		t:      t,
		random: rand.New(rand.NewPCG(seed, 1)),
		time:   playTime,
		table:  lakestate.Over(&tabletest.Memory{}),
		logs:   map[string][]string{},
		days:   map[string]lake.Day{},
		known:  map[dayVersion][]string{},
		texts:  map[string]string{},
		put:    map[string]time.Time{},
		queue:  map[string]time.Time{},

		oneFamily: seed%2 == 1,
		damaging:  seed%4 == 1 || seed%4 == 2,
		damaged:   map[string][]string{},
	}
	p.raw, p.lake = &blobtest.Memory{Now: p.now}, &blobtest.Memory{Now: p.now}
	p.writeLogs()
	return p
}

func (p *play) now() time.Time { return p.time }

// writeLogs writes logs, which are put into the bucket when they are first delivered. Some of them grow: the bucket
// gets several versions of different lengths. In every second play all logs begin with a blank line, so that they are
// one family of the ledger.
func (p *play) writeLogs() {
	next := 0
	for n := range 4 {
		var text strings.Builder
		var ids []string
		if p.oneFamily {
			text.WriteString("\n")
			ids = append(ids, "")
		}
		versions := 1 + p.random.IntN(3)
		for v := range versions {
			for range 1 + p.random.IntN(4) {
				id := fmt.Sprintf("r%d", next)
				at := playTime.Add(time.Duration(p.random.IntN(6*60)-60) * time.Minute)
				fmt.Fprintf(&text, `{"processing_stage":6,"timestamp":%q,"request_id":%q}`+"\n", at.Format(time.RFC3339), id)
				ids = append(ids, id)
				p.days[id] = lake.PartitionOf(at.UnixMilli()).Day()
				next++
			}
			key := fmt.Sprintf("raw/%d.%d", n, v)
			p.logs[key], p.texts[key] = slices.Clone(ids), text.String()
		}
	}
}

func (p *play) run(sum *tally) {
	p.act()
	p.settle()
	s := &p.sum
	*sum = tally{
		sum.Steps + s.Steps, sum.Killed + s.Killed, sum.Failed + s.Failed, sum.Lost + s.Lost, sum.Readers + s.Readers,
		sum.Compared + s.Compared, sum.Late + s.Late, sum.Hours + s.Hours, sum.Swept + s.Swept,
		sum.Complete + s.Complete, sum.Held + s.Held, sum.Reconciled + s.Reconciled, sum.Carried + s.Carried,
		sum.Damaged + s.Damaged, sum.Rebuilt + s.Rebuilt, sum.Incomplete + s.Incomplete, sum.Unchanged + s.Unchanged,
		sum.Bundled + s.Bundled, sum.Listed + s.Listed, sum.Counted + s.Counted, sum.DayCounts + s.DayCounts,
	}
}

// act starts the actors one after the other and lets the running ones make steps, until all have ended.
func (p *play) act() {
	p.todo = p.script()
	for len(p.todo) > 0 || len(p.actors) > 0 {
		switch {
		case len(p.todo) > 0 && (len(p.actors) == 0 || p.random.IntN(12) == 0):
			next := p.todo[0]
			p.todo = p.todo[1:]
			p.start(next)
		case p.looks < 30 && len(p.put) > 0 && (len(p.queue) == 0 && p.random.IntN(10) == 0 || p.random.IntN(50) == 0):
			p.looks++ // most of them with an empty queue: the others should have no effect
			p.passTime()
			if p.random.IntN(3) > 0 {
				p.start(work{name: "look", do: p.look})
			} else {
				p.start(work{name: "reconcile", do: p.reconcile})
			}
		case p.damaging && p.sum.Damaged < maxDamaged && p.random.IntN(80) == 0:
			p.damage()
		case p.random.IntN(15) == 0:
			p.passTime()
		default:
			p.step(p.next())
		}
	}
}

// next chooses the actor that makes the next step. Readers are slow, so that much can happen while they read.
func (p *play) next() *actor {
	for range 4 {
		if a := p.actors[p.random.IntN(len(p.actors))]; !a.reader {
			return a
		}
	}
	return p.actors[p.random.IntN(len(p.actors))]
}

type work struct {
	name   string
	reader bool
	do     func(a *actor)
}

// script returns the work of the actors in random order: every log once or twice, compactions, and readers.
func (p *play) script() []work {
	var list []work
	for _, key := range slices.Sorted(maps.Keys(p.logs)) {
		for range 1 + p.random.IntN(2) {
			list = append(list, p.delivery(key))
		}
	}
	for range 8 {
		list = append(list, work{name: "compact", do: p.compact})
	}
	for range 14 {
		list = append(list, work{name: "read", reader: true, do: p.read})
	}
	p.random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// delivery is the delivery of the message about a log. A message that is not handled is delivered again later.
func (p *play) delivery(key string) work {
	return work{name: "import " + key, do: func(a *actor) { p.importLog(a, key) }}
}

func (p *play) start(w work) {
	a := &actor{
		play:    p,
		name:    w.name,
		began:   p.time,
		reader:  w.reader,
		bundles: p.random.IntN(2) == 0,
		turn:    make(chan verdict),
		yield:   make(chan bool),
	}
	go func() {
		w.do(a)
		a.yield <- false
	}()
	p.await(a)
}

// await waits until an actor is ready for its next step or has ended.
func (p *play) await(a *actor) {
	running := <-a.yield
	i := slices.Index(p.actors, a)
	switch {
	case running && i < 0:
		p.actors = append(p.actors, a)
	case !running && i >= 0:
		p.actors = slices.Delete(p.actors, i, i+1)
	}
}

func (p *play) step(a *actor) {
	p.sum.Steps++
	v := goOn
	if !a.reader && !p.calm {
		switch p.random.IntN(100) {
		case 0:
			v, p.sum.Failed = failBefore, p.sum.Failed+1
		case 1:
			v, p.sum.Lost = failAfter, p.sum.Lost+1
		case 2:
			v, p.sum.Killed = dieBefore, p.sum.Killed+1
		case 3:
			v, p.sum.Killed = dieAfter, p.sum.Killed+1
		}
	}
	a.turn <- v
	p.await(a)
	if p.sum.Steps%8 == 0 {
		p.checkDayCounts()
	}
}

// damage replaces the content of an object by half of it.
func (p *play) damage() {
	var names []string
	for _, folder := range []string{"lake/compact/", "lake/fresh/"} {
		for info, err := range p.lake.List(context.Background(), folder, "") {
			if err != nil {
				p.t.Fatal(err)
			}
			names = append(names, info.Name)
		}
	}
	if len(names) == 0 {
		return
	}
	name := names[p.random.IntN(len(names))]
	ids, err := requestIDs(p.lake, name)
	if err != nil {
		return // it is damaged already
	}
	body, info, err := p.lake.Get(context.Background(), name, "", 0)
	if err != nil {
		p.t.Fatal(err)
	}
	half, err := io.ReadAll(io.LimitReader(body, info.Size/2))
	if err := errors.Join(err, body.Close()); err != nil {
		p.t.Fatal(err)
	}
	if err := p.lake.Put(context.Background(), name, bytes.NewReader(half), blob.Always); err != nil {
		p.t.Fatal(err)
	}
	p.sum.Damaged++
	p.damaged[lake.NameOf(name)] = append(p.damaged[lake.NameOf(name)], ids...)
}

// skipped returns the ids of the rows that an answer may lack: those of the objects that it names as lost. Of an object
// that was damaged before it was copied to another name, these are the rows of the damaged objects of its hour.
func (p *play) skipped(began time.Time) map[string]bool {
	s, _, err := lakestate.Load(context.Background(), p.table)
	if err != nil {
		p.t.Error(err)
	}
	may := map[string]bool{}
	for _, o := range s.Lost {
		if !o.Rebuilt.IsZero() && o.Rebuilt.Before(began.Add(-time.Minute)) {
			continue
		}
		for name, ids := range p.damaged {
			if _, known := p.damaged[o.Name]; name == o.Name || !known && strings.Contains(name, o.Hour.String()) {
				for _, id := range ids {
					may[id] = true
				}
			}
		}
	}
	return may
}

// failedAt is the end of a query that fails at an object.
func (p *play) failedAt(a *actor, name string, err error) {
	switch {
	case !p.damaging:
		p.t.Errorf("%s: %v", a.name, err)
	case !errors.Is(err, blob.ErrNotFound): // else it was removed while the query ran
		e := &engine.DamageError{Object: lake.NameOf(name), From: hourIn(p.t, name), To: hourIn(p.t, name), Err: err}
		if err := lakestate.NewDamageReports(p.table, p.now).Report(context.Background(), e); err != nil {
			p.t.Error(err)
		}
	}
}

// passTime advances the clock, but not so far that a reader would take longer than a query may. Imports and compactions
// may take any time, unless objects get damaged: rebuilding relies on a limit.
func (p *play) passTime() {
	by := time.Duration(p.random.IntN(20)) * time.Minute
	for _, a := range p.actors {
		if (a.reader || p.damaging) && p.time.Add(by).Sub(a.began) > 30*time.Minute {
			return
		}
	}
	p.time = p.time.Add(by)
}

// do makes one step of an actor.
func (a *actor) do(carryOut func() error) error {
	if a.dead {
		return errKilled
	}
	a.yield <- true
	switch <-a.turn {
	case failBefore:
		return errFault
	case failAfter:
		return errors.Join(errFault, carryOut())
	case dieBefore:
		a.dead = true
		return errKilled
	case dieAfter:
		a.dead = true
		return errors.Join(errKilled, carryOut())
	default:
		return carryOut()
	}
}

func (p *play) cloudOf(a *actor) *cloud.Store {
	c, err := cloud.New(cloud.Config{
		Raw:      p.raw,
		Lake:     steppedStore{p.lake, a},
		Table:    steppedTable{p.table, a},
		Scratch:  filepath.Join(p.t.TempDir(), "scratch"),
		Options:  ingest.Options{Workers: 1},
		Grace:    30 * time.Minute,
		Group:    8 << 10,
		Copies:   1,
		Footers:  1,
		Bundling: compaction.Bundling{Open: 2, Ended: 2, Late: 2, Most: 3, Member: 1 << 20, Bytes: 1 << 20},
		Now:      p.now,
		Pause:    func(context.Context, time.Duration) error { return nil },
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return c
}

// importLog is a delivery: it imports a log, and deletes the message if that succeeds. The first one puts the log.
func (p *play) importLog(a *actor, key string) {
	if p.put[key].IsZero() {
		p.put[key], p.queue[key] = p.time, p.time
		if err := p.raw.Put(context.Background(), key, strings.NewReader(p.texts[key]), blob.Always); err != nil {
			p.t.Error(err)
		}
	}
	_, err := p.cloudOf(a).Import(context.Background(), rawlog.Log{Key: key})
	p.unlessFault(a, err)
	if err == nil {
		delete(p.queue, key)
	} else {
		p.todo = append(p.todo, p.delivery(key))
	}
}

// look looks at the queue.
func (p *play) look(a *actor) {
	p.unlessFault(a, p.cloudOf(a).ObserveQueues(context.Background(), p))
	p.readSometimes()
}

// reconcile compares the logs that were put with those that have arrived. The queue still has the messages about the
// others. In every second case the time is up after some logs, and the next run goes on.
func (p *play) reconcile(a *actor) {
	before := p.backlog()
	left := 1000
	if p.random.IntN(2) == 0 {
		left = 2 + p.random.IntN(8)
	}
	end := p.time.Add(24 * time.Hour)
	report, err := arrivals.Reconciliation{
		Raw: steppedStore{p.raw, a}, Table: steppedTable{p.table, a},
		Now: func() time.Time {
			if left--; left < 0 {
				return end
			}
			return p.time
		},
		Send: func(context.Context, rawlog.Log, time.Time) error { return nil },
	}.Run(deadline{context.Background(), end})
	p.unlessFault(a, err)
	if p.backlog().Through.After(before.Through) {
		p.sum.Reconciled++
		if report.Unfinished {
			p.sum.Carried++
		}
	}
	p.readSometimes()
}

func (p *play) backlog() lakestate.Backlog {
	s, _, err := lakestate.Load(context.Background(), p.table)
	if err != nil {
		p.t.Error(err)
	}
	return s.Backlog
}

// readSometimes has a reader follow in every second case.
func (p *play) readSometimes() {
	if p.random.IntN(2) == 0 {
		p.todo = append([]work{{name: "read", reader: true, do: p.read}}, p.todo...)
	}
}

// Waiting returns the number of messages. It counts a message as late as SQS may.
func (p *play) Waiting(context.Context) (n int, err error) {
	for _, sent := range p.queue {
		if p.time.Sub(sent) >= lakestate.CountLag {
			n++
		}
	}
	return n, nil
}

func (p *play) compact(a *actor) {
	report, err := p.cloudOf(a).Compact(context.Background(), time.Time{})
	p.unlessFault(a, err)
	p.sum.Hours += report.Hours
	p.sum.Rebuilt += len(report.Rebuilt)
	p.sum.Swept += report.Removed
}

// unlessFault reports errors that are not faults of the play. What a dead process returns does not matter. If an object
// is damaged or removed while a compaction works with it, the compaction fails and the next one continues.
func (p *play) unlessFault(a *actor, err error) {
	if p.damaging && !p.calm && err != nil {
		text := err.Error()
		if errors.Is(err, blob.ErrNotFound) || strings.Contains(text, "its content was changed") ||
			strings.Contains(text, "two reads have") || strings.Contains(text, "was replaced while it was read") {
			return
		}
	}
	if err != nil && !errors.Is(err, errFault) && !a.dead {
		p.t.Errorf("%s: %v", a.name, err)
	}
}

// read is a query: it reads the state, lists the objects, and reads one object after the other.
func (p *play) read(a *actor) {
	p.sum.Readers++
	var state lakestate.State
	var complete map[string]int
	must := func(err error) {
		if err != nil {
			p.t.Errorf("%s: %v", a.name, err)
		}
	}
	must(a.do(func() error {
		item, err := p.table.Get(context.Background(), lakestate.Key{Partition: "lake", Sort: "state"})
		if err != nil || item.Revision == 0 {
			return err
		}
		if err := json.Unmarshal(item.Body, &state); err != nil {
			return err
		}
		open := map[string]bool{}
		for id, o := range state.Open {
			open[id] = true
			if o.Late > 0 {
				p.sum.Late++
			}
		}
		complete = p.committed(open)
		p.checkDays(state, complete)
		return nil
	}))
	through := state.CompleteThrough()
	if through.Before(state.Backlog.Through) {
		p.sum.Held++
	}
	if int64(len(complete)) != state.Extent.Rows && !p.damaging { // a lake without objects has no extent
		p.t.Errorf("complete imports have %d rows, but the state has %d", len(complete), state.Extent.Rows)
	}
	store := steppedStore{p.lake, a}
	seen := map[string]int{}
	from := map[string]string{}
	objects := lakestate.NewListing(store).Objects
	if a.bundles {
		objects = bundle.NewListing(lakestate.NewListing(store), steppedTable{p.table, a}, p.now).Objects
	}
	day := lake.PartitionOf(playTime.UnixMilli()).Day()
	var names []string
	for info, err := range objects(context.Background(), state.Watermark, (day - 2).First(), (day + 2).First()) {
		must(err)
		names = append(names, info.Name)
	}
	for _, name := range names {
		must(a.do(func() error { return nil }))
		if strings.HasPrefix(name, bundle.Root) {
			p.sum.Bundled++
		}
		ids, err := requestIDs(p.lake, name)
		if err != nil {
			p.failedAt(a, name, err)
			return
		}
		for _, id := range ids {
			seen[id]++
			from[id] += " " + name
		}
	}
	skipped := p.skipped(a.began)
	for id := range complete {
		p.sum.Compared++
		if seen[id] == 0 && skipped[id] {
			p.sum.Incomplete++
			continue
		}
		if seen[id] != 1 {
			p.t.Errorf("row %s of a complete import was seen %d times:%s", id, seen[id], from[id])
		}
	}
	for key, at := range p.put {
		if !at.Before(through) {
			continue
		}
		p.sum.Complete++
		for _, id := range p.logs[key] {
			if id != "" && seen[id] == 0 && !skipped[id] {
				p.t.Errorf("row %s of %s was not seen, but the log was put at %v, before %v", id, key, at, through)
			}
		}
	}
	for id, n := range seen {
		if n > 1 {
			p.t.Errorf("row %s was seen %d times:%s", id, n, from[id])
		}
	}
}

// dayVersion is a day at one of its versions.
type dayVersion struct {
	day     lake.Day
	version int64
}

// checkDays checks that a day has the same rows whenever it has the same version. complete has the rows of complete
// imports, which a reader must see.
func (p *play) checkDays(state lakestate.State, complete map[string]int) {
	rows := map[lake.Day][]string{}
	for id, day := range p.days {
		if _, known := rows[day]; !known {
			rows[day] = []string{}
		}
		if complete[id] > 0 {
			rows[day] = append(rows[day], id)
		}
	}
	var unknown []lake.Day
	for _, o := range state.Lost {
		day := o.Hour.Day()
		ids, known := p.damaged[o.Name]
		switch {
		case !o.Rebuilt.IsZero():
			continue
		case !known: // it was damaged before it was copied to this name
			unknown = append(unknown, day)
		}
		rows[day] = slices.DeleteFunc(rows[day], func(id string) bool { return slices.Contains(ids, id) })
	}
	for day, ids := range rows {
		if slices.Contains(unknown, day) {
			continue
		}
		slices.Sort(ids)
		at := dayVersion{day, state.Version}
		if !state.Days.IsZero() {
			at.version = state.Days.Of(day.First(), day.First())
		}
		before, known := p.known[at]
		if !known {
			p.known[at] = ids
			continue
		}
		if at.version < state.Version {
			p.sum.Unchanged++
		}
		if !slices.Equal(before, ids) {
			p.t.Errorf("%s at version %d has the rows %q, and had %q", day, at.version, ids, before)
		}
	}
}

// committed returns the ids of the lines of the imports in the ledger, without the open imports.
func (p *play) committed(open map[string]bool) map[string]int {
	ids := map[string]int{}
	families := map[string]bool{}
	for key := range p.put {
		log := ledger.LogName("raw/" + strings.TrimPrefix(key, "raw/"))
		body, _, err := p.raw.Get(context.Background(), key, "", 0)
		if err != nil {
			p.t.Error(err)
			return nil
		}
		text, err := io.ReadAll(body)
		if err != nil {
			p.t.Error(err)
		}
		families[ledger.LogFamily(log, text)], families[ledger.LogFamily(log, nil)] = true, true
	}
	for family := range families {
		imports, err := p.table.List(context.Background(), "ingest#"+family, "import#")
		if err != nil {
			p.t.Error(err)
		}
		before := int64(0)
		for _, item := range imports {
			var i struct {
				Source     string
				Generation int
				Name       string
				Lines      int64
			}
			if err := json.Unmarshal(item.Body, &i); err != nil {
				p.t.Error(err)
			}
			if i.Generation == 1 {
				before = 0
			}
			if !open[fmt.Sprintf("%s#%d", i.Source, i.Generation)] {
				for _, id := range p.logs[i.Name][before:i.Lines] {
					if id != "" {
						ids[id]++
					}
				}
			}
			before = i.Lines
		}
	}
	return ids
}

// settle delivers every log again without faults, compacts, and checks that the lake has every row once and nothing
// else.
func (p *play) settle() {
	if p.t.Failed() {
		return
	}
	p.calm = true
	want := map[string]int{}
	for key, ids := range p.logs {
		for _, id := range ids {
			if id != "" {
				want[id] = 1
			}
		}
		p.alone("import "+key, func(a *actor) { p.importLog(a, key) })
	}
	rounds := 3
	if p.damaging {
		// A query finds one damaged object at a time, and the next compaction but one rebuilds it.
		rounds += 2 * maxDamaged
	}
	for range rounds {
		p.alone("read", p.read)
		p.time = p.time.Add(25 * time.Hour)
		p.alone("compact", p.compact)
	}
	seen := map[string]int{}
	for _, prefix := range []string{"lake/compact/", "lake/fresh/"} {
		for info, err := range p.lake.List(p.t.Context(), prefix, "") {
			if err != nil {
				p.t.Fatal(err)
			}
			ids, err := requestIDs(p.lake, info.Name)
			if err != nil {
				p.t.Fatal(err)
			}
			for _, id := range ids {
				seen[id]++
			}
		}
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		p.t.Errorf("rows at the end differ (-want +got):\n%s", diff)
	}
	for _, prefix := range []string{"lake/_staging/", "lake/_plans/"} {
		for info, err := range p.lake.List(p.t.Context(), prefix, "") {
			p.t.Errorf("left at the end: %s, %v", info.Name, err)
		}
	}
	p.sum.Listed += p.expectOwnLists()
	p.sum.Counted += p.expectCountedColumns()
}

// alone runs one actor until it ends.
func (p *play) alone(name string, do func(*actor)) {
	p.start(work{name: name, do: do})
	for len(p.actors) > 0 {
		p.step(p.actors[0])
	}
}

// steppedStore makes a step of its actor for every call.
type steppedStore struct {
	blob.Store
	actor *actor
}

func (s steppedStore) Get(
	ctx context.Context, name, version string, offset int64,
) (body io.ReadCloser, info blob.Info, err error) {
	err = s.actor.do(func() (err error) {
		body, info, err = s.Store.Get(ctx, name, version, offset)
		return err
	})
	return body, info, err
}

func (s steppedStore) Head(ctx context.Context, name string) (info blob.Info, err error) {
	err = s.actor.do(func() (err error) {
		info, err = s.Store.Head(ctx, name)
		return err
	})
	return info, err
}

func (s steppedStore) Put(ctx context.Context, name string, body io.ReadSeeker, when blob.Condition) error {
	return s.actor.do(func() error { return s.Store.Put(ctx, name, body, when) })
}

func (s steppedStore) Copy(ctx context.Context, from, to string) error {
	return s.actor.do(func() error { return s.Store.Copy(ctx, from, to) })
}

func (s steppedStore) List(ctx context.Context, prefix, after string) iter.Seq2[blob.Info, error] {
	return func(yield func(blob.Info, error) bool) {
		var infos []blob.Info
		err := s.actor.do(func() error {
			for info, err := range s.Store.List(ctx, prefix, after) {
				if err != nil {
					return err
				}
				infos = append(infos, info)
			}
			return nil
		})
		if err != nil {
			yield(blob.Info{}, err)
			return
		}
		for _, info := range infos {
			if !yield(info, nil) {
				return
			}
		}
	}
}

// Delete removes one object per step, so that any number of them may be removed when the process dies.
func (s steppedStore) Delete(ctx context.Context, names ...string) error {
	for _, name := range names {
		if err := s.actor.do(func() error { return s.Store.Delete(ctx, name) }); err != nil {
			return err
		}
	}
	return nil
}

type steppedTable struct {
	lakestate.Table
	actor *actor
}

func (s steppedTable) Get(ctx context.Context, key lakestate.Key) (item lakestate.Item, err error) {
	err = s.actor.do(func() (err error) {
		item, err = s.Table.Get(ctx, key)
		return err
	})
	return item, err
}

func (s steppedTable) List(ctx context.Context, partition, prefix string) (items []lakestate.Item, err error) {
	err = s.actor.do(func() (err error) {
		items, err = s.Table.List(ctx, partition, prefix)
		return err
	})
	return items, err
}

func (s steppedTable) Write(ctx context.Context, changes ...lakestate.Change) error {
	return s.actor.do(func() error { return s.Table.Write(ctx, changes...) })
}
