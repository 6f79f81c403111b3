package cloud_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/gzipped"
	"github.com/orrery/orrery/shared/ingest/cloud"
	"github.com/orrery/orrery/shared/ingest/cloud/ledgertable"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/ingest/ledger"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/table/tabledynamo/dynamotest"
	"github.com/orrery/orrery/shared/testkit/faulttest"
	"github.com/orrery/orrery/shared/testkit/testlevel"
)

// cloudFrontKey and iisKey return the key of log n. As these servers name them, each log has a name of its own.
func cloudFrontKey(n int) string { return fmt.Sprintf("raw/cdn/E2EXAMPLE.2026-03-01-10.%08x.gz", n) }
func iisKey(n int) string        { return fmt.Sprintf("raw/web%d/W3SVC1/u_ex260301.log", n) }

// cloudFrontLog and iisLog return log n with a number of lines. Logs of a server begin with the same lines.
func cloudFrontLog(n, lines int) string {
	var b strings.Builder
	b.WriteString("#Version: 1.0\n#Fields: date time c-ip cs-method cs-uri-stem sc-status x-edge-request-id\n")
	for i := range lines {
		at := testTime.Add(time.Duration(i) * time.Second).Format("2006-01-02 15:04:05")
		fmt.Fprintf(&b, "%s 192.0.2.7 GET /cdn 200 c%d-%d\n", at, n, i)
	}
	return b.String()
}

func iisLog(n, lines int) string {
	var b strings.Builder
	b.WriteString("#Software: Microsoft Internet Information Services 10.0\n#Version: 1.0\n" +
		"#Date: 2026-03-01 10:00:00\n#Fields: date time cs-method cs-uri-stem c-ip sc-status\n")
	for i := range lines {
		at := testTime.Add(time.Duration(i) * time.Second).Format("2006-01-02 15:04:05")
		fmt.Fprintf(&b, "%s GET /%d/%d 203.0.113.9 200\n", at, n, i)
	}
	return b.String()
}

// watchedTable counts what is read of a table's ledger, and remembers the items that are written.
type watchedTable struct {
	lakestate.Table
	mu                     sync.Mutex
	requests, items, bytes int
	before                 func() error // called before each request, unless it is nil
	after                  func() error // called after each request, unless it is nil
	written                map[lakestate.Key]json.RawMessage
}

func (c *watchedTable) count(key string, items ...lakestate.Item) {
	if !strings.HasPrefix(key, "ingest#") || strings.HasPrefix(key, "ingest#marks#") {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests++
	for _, item := range items {
		if item.Revision > 0 {
			c.items, c.bytes = c.items+1, c.bytes+len(item.Body)
		}
	}
}

// call calls do between before and after.
func (c *watchedTable) call(do func() error) error {
	if c.before != nil {
		if err := c.before(); err != nil {
			return err
		}
	}
	err := do()
	if c.after != nil {
		err = errors.Join(err, c.after())
	}
	return err
}

func (c *watchedTable) Get(ctx context.Context, key lakestate.Key) (item lakestate.Item, err error) {
	err = c.call(func() (err error) {
		item, err = c.Table.Get(ctx, key)
		return err
	})
	c.count(key.Partition, item)
	return item, err
}

func (c *watchedTable) List(ctx context.Context, partition, prefix string) (items []lakestate.Item, err error) {
	err = c.call(func() (err error) {
		items, err = c.Table.List(ctx, partition, prefix)
		return err
	})
	c.count(partition, items...)
	return items, err
}

func (c *watchedTable) Write(ctx context.Context, changes ...lakestate.Change) error {
	return c.call(func() error {
		err := c.Table.Write(ctx, changes...)
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, change := range changes {
			if err == nil && c.written != nil {
				c.written[change.Key] = change.Body
			}
		}
		return err
	})
}

// writeOld writes sources as earlier versions did: in one family, one import each.
func writeOld(t *testing.T, table lakestate.Table, sources int, key func(int) string, text func(int) string) {
	t.Helper()
	family := ledger.Family([]byte(text(0)))
	put := func(partition, sort string, body any) {
		item := lakestate.Item{Key: lakestate.Key{Partition: partition, Sort: sort}}
		if err := lakestate.Replace(t.Context(), table, item, body); err != nil {
			t.Fatal(err)
		}
	}
	put("ingest#"+family, "family", map[string]any{"imports": sources})
	for n := range sources {
		head, log := text(n), ledger.LogName(key(n))
		sum := fmt.Sprintf("%x", sha256.Sum256([]byte(head)))
		id := fmt.Sprintf("%x", sha256.Sum256([]byte(log+"\x00"+head)))[:16]
		put("ingest#"+family, "head#"+id, map[string]any{"gzip": gzipped.Of([]byte(head))})
		put("ingest#"+family, "source#"+id, map[string]any{
			"id": id, "log": log, "format": "w3c", "head_length": len(head), "head_sha256": sum,
		})
		put("ingest#"+family, "import#"+id+"#000001", map[string]any{
			"source": id, "generation": 1, "log": log, "head": len(head), "name": key(n), "at": testTime, "rules": 3,
			"length": len(head), "sha256": sum, "lines": strings.Count(head, "\n"), "terminated": true, "records": 2,
			"parts": 1, "objects": 1, "attempt": "A",
		})
		put("ingest#source#"+id, "family", map[string]any{"family": family})
	}
}

// TestReadsPerImportAreConstant imports logs of CloudFront and of IIS, all of which begin with the same line, into a
// ledger that has many already.
func TestReadsPerImportAreConstant(t *testing.T) {
	old := testlevel.Of(3_000, 3_000, 10_000) // of each kind
	logs := testlevel.Of(40, 40, 400)
	w := newWorld(t)
	kinds := []struct {
		name string
		key  func(int) string
		text func(n, lines int) string
	}{{"CloudFront", cloudFrontKey, cloudFrontLog}, {"IIS", iisKey, iisLog}}
	for _, kind := range kinds {
		writeOld(t, w.table, old, kind.key, func(n int) string { return kind.text(n, 2) })
	}
	table := &watchedTable{Table: w.table}
	config := w.config()
	config.Table, config.Move = table, old/3
	left := map[string]int{}
	config.Moved = func(_ context.Context, moved ledgertable.Moved, err error) {
		if err != nil {
			t.Error(err)
		}
		left[moved.Family] = moved.Left
	}
	store := w.cloudOf(config)
	reads := func(key, text string, records int64) [3]int {
		t.Helper()
		w.put(key, text)
		table.requests, table.items, table.bytes = 0, 0, 0
		report, err := store.Import(t.Context(), rawlog.Log{Key: key})
		if err != nil || report.Records != records {
			t.Fatalf("%d records, %v", report.Records, err)
		}
		return [3]int{table.requests, table.items, table.bytes}
	}
	for _, kind := range kinds {
		before := reads(kind.key(old), kind.text(old, 2), 2)
		if before[1] < 2*old {
			t.Errorf("%s: an import before the move reads %d items", kind.name, before[1])
		}
		w.pass(25 * time.Hour)
		for n := range 5 {
			reads(kind.key(old+1+n), kind.text(old+1+n, 2), 2) // the first one begins the move
		}
		family := ledger.Family([]byte(kind.text(0, 0)))
		if n, began := left[family]; !began || n > 0 {
			t.Fatalf("%s: %d sources are left", kind.name, n)
		}
	}
	for _, kind := range kinds {
		var first [3]int
		for n := range logs {
			n += old + 100
			now := reads(kind.key(n), kind.text(n, 2), 2)
			if first[0] == 0 {
				first = now
				t.Logf("%s: an import makes %d requests and reads %d items, %d bytes", kind.name, now[0], now[1], now[2])
			}
			if now != first || now[1] > 5 {
				t.Fatalf("%s: import %d reads %v, the first one %v", kind.name, n, now, first)
			}
		}
		for _, n := range []int{0, 1, old / 2, old - 1, old, old + 3, old + 100} {
			again := reads(kind.key(n), kind.text(n, 2), 0)
			grown := reads(kind.key(n), kind.text(n, 3), 1)
			header := reads(kind.key(n), kind.text(n, 0), 0)
			if again[1] > 10 || grown[1] > 10 || header[1] > 10 {
				t.Errorf("%s: log %d reads %v again, %v when it has grown, %v for its header",
					kind.name, n, again, grown, header)
			}
		}
	}
}

// TestReadsOfOneName imports logs of one name, as a server has them whose logs are in folders by date. Their number
// does not change what an import reads, except that the header of a log may be that of the newest ones.
func TestReadsOfOneName(t *testing.T) {
	const newest = 32
	w := newWorld(t)
	table := &watchedTable{Table: w.table}
	config := w.config()
	config.Table = table
	store := w.cloudOf(config)
	reads := func(n, lines int, records int64) [2]int {
		t.Helper()
		key := fmt.Sprintf("raw/%s/web1/w3c.log", testTime.Add(time.Duration(n)*time.Hour).Format("2006/01/02/15"))
		w.put(key, cloudFrontLog(n, lines))
		table.requests, table.items = 0, 0
		if r, err := store.Import(t.Context(), rawlog.Log{Key: key}); err != nil || r.Records != records {
			t.Fatalf("log %d: %d records, %v", n, r.Records, err)
		}
		return [2]int{table.requests, table.items}
	}
	reads(0, 2, 2)
	first := reads(1, 2, 2)
	for n := 2; n < 100; n++ {
		if now := reads(n, 2, 2); now != first {
			t.Fatalf("import %d makes %d requests and reads %d items, the second one %v", n, now[0], now[1], first)
		}
	}
	for _, n := range []int{0, 99} {
		if again := reads(n, 2, 0); again[1] > 10 {
			t.Errorf("log %d again: %v", n, again)
		}
		if grown := reads(n, 3, 1); grown[1] > 10 {
			t.Errorf("log %d has grown: %v", n, grown)
		}
	}
	if header := reads(99, 0, 0); header[1] > 3*newest+10 {
		t.Errorf("a header: %v", header)
	}
}

// oldLogs are the logs in testdata/ledger-by-first-line.json.gz. The version before families of logs has written it,
// over ledger-by-content.json.gz. The last log of each server has grown between two imports.
var oldLogs = []struct {
	key   string
	known string
	grown string // by one record
}{
	{cloudFrontKey(0), cloudFrontLog(0, 2), cloudFrontLog(0, 3)},
	{cloudFrontKey(1), cloudFrontLog(1, 2), cloudFrontLog(1, 3)},
	{cloudFrontKey(2), cloudFrontLog(2, 4), cloudFrontLog(2, 5)},
	{iisKey(0), iisLog(0, 2), iisLog(0, 3)},
	{iisKey(1), iisLog(1, 2), iisLog(1, 3)},
	{iisKey(2), iisLog(2, 4), iisLog(2, 5)},
	{"raw/web1/access.log", oldRecords(5000, 5003, 0), oldRecords(5000, 5004, 0)},
	// The sources of these have no name. One import of the second log has.
	{"raw/web7/access.log", oldRecords(0, 3, time.Second), oldRecords(0, 4, time.Second)},
	{"raw/web1/access.log", oldRecords(100, 110, time.Second), oldRecords(100, 111, time.Second)},
}

// importOld imports the logs again and then, if they have grown, their new records.
func importOld(t *testing.T, w *world, grown bool) {
	t.Helper()
	for _, log := range oldLogs {
		if r := w.importLog(log.key, log.known); r.Records != 0 || r.Known == 0 {
			t.Errorf("%s again: %d records, %d lines known", log.key, r.Records, r.Known)
		}
		if !grown {
			continue
		}
		if r := w.importLog(log.key, log.grown); r.Records > 1 || r.Known == 0 {
			t.Errorf("%s grown: %d records, %d lines known", log.key, r.Records, r.Known)
		}
	}
}

func TestOldFamiliesMove(t *testing.T) {
	for _, test := range []struct {
		name   string
		before int // logs that grow before the move
	}{{"no log has grown", 0}, {"logs have grown before", 5}} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorldWith(t, "ledger-by-first-line.json.gz")
			table := &watchedTable{Table: w.table, written: map[lakestate.Key]json.RawMessage{}}
			w.table = table
			for _, log := range oldLogs[:test.before] {
				w.importLog(log.key, log.grown)
			}
			importOld(t, w, false)
			for n := range 3 { // commits by which the move of each family begins
				w.importLog(cloudFrontKey(10+n), cloudFrontLog(10+n, 2))
				w.importLog(iisKey(10+n), iisLog(10+n, 2))
				w.pass(25 * time.Hour)
			}
			for _, text := range []string{cloudFrontLog(0, 0), iisLog(0, 0)} {
				item, err := w.table.Get(t.Context(), lakestate.Key{
					Partition: "ingest#" + ledger.Family([]byte(text)), Sort: "family",
				})
				if err != nil || string(item.Body) != `{"imports":"moved"}` {
					t.Errorf("the old family has %s, %v", item.Body, err)
				}
			}
			importOld(t, w, true)
			w.pass(25 * time.Hour)
			importOld(t, w, true)
			if rows := w.state().Extent.Rows; rows != int64(len(oldLogs))+12 {
				t.Errorf("%d rows, want %d", rows, len(oldLogs)+12)
			}
			for key := range table.written {
				if id, ok := strings.CutPrefix(key.Partition, "ingest#source#"); ok {
					var lead struct{ Family string }
					if err := json.Unmarshal(table.written[key], &lead); err != nil {
						t.Fatal(err)
					}
					s, err := w.table.Get(t.Context(), lakestate.Key{Partition: "ingest#" + lead.Family, Sort: "source#" + id})
					if err != nil || s.Revision == 0 {
						t.Errorf("source %s is not in its family, %v", id, err)
					}
				}
			}
		})
	}
}

// TestUnfinishedImportMovesNothing imports a log in parts, because the time of each call is up soon. The move must not
// take what is left of it.
func TestUnfinishedImportMovesNothing(t *testing.T) {
	w := newWorldWith(t, "ledger-by-first-line.json.gz")
	for n := range 2 { // the second import begins the move
		w.importLog(cloudFrontKey(10+n), cloudFrontLog(10+n, 2))
		w.pass(25 * time.Hour)
	}
	w.put(cloudFrontKey(20), cloudFrontLog(20, 20_000))
	config := w.config()
	config.Now = func() time.Time { w.pass(time.Second); return w.now() }
	moves := 0
	config.Moved = func(context.Context, ledgertable.Moved, error) { moves++ }
	store := w.cloudOf(config)
	for parts := 0; ; parts++ {
		_, err := store.Import(deadline{t.Context(), w.time.Add(5 * time.Second)}, rawlog.Log{Key: cloudFrontKey(20)})
		finished := err == nil
		if !finished && !errors.Is(err, cloud.ErrUnfinished) || parts > 50 {
			t.Fatalf("part %d: %v", parts, err)
		}
		if finished != (moves > 0) || finished && parts == 0 {
			t.Errorf("part %d: finished %t, %d moves", parts, finished, moves)
		}
		if finished {
			return
		}
	}
}

// TestMoveKilledAtEveryRequest kills imports that begin a move and continue it, before and after every request to the
// table with ORRERY_TEST_LONG, and repeats them.
func TestMoveKilledAtEveryRequest(t *testing.T) {
	killed := errors.New("killed")
	for _, after := range []bool{false, true} {
		n, reached := 0, true
		for ; reached; n += max(1, stride()/4) {
			w := newWorldWith(t, "ledger-by-first-line.json.gz")
			table := &watchedTable{Table: w.table}
			left, dead := n, false
			kill := func() error {
				if left--; left < 0 {
					dead = true
				}
				if dead {
					return killed
				}
				return nil
			}
			tasks := []func(store *cloud.Store) error{}
			importing := func(at time.Duration, key, text string) {
				tasks = append(tasks, func(store *cloud.Store) error {
					w.time = testTime.Add(at)
					w.put(key, text)
					_, err := store.Import(t.Context(), rawlog.Log{Key: key})
					return err
				})
			}
			day := 25 * time.Hour
			importing(0, cloudFrontKey(10), cloudFrontLog(10, 2))
			importing(day, cloudFrontKey(11), cloudFrontLog(11, 2)) // begins the move
			importing(day, cloudFrontKey(2), cloudFrontLog(2, 5))   // continues a source that has not moved
			importing(day, cloudFrontKey(12), cloudFrontLog(12, 2))
			importing(day, cloudFrontKey(13), cloudFrontLog(13, 2))
			importing(day, cloudFrontKey(14), cloudFrontLog(14, 2))
			for _, task := range tasks {
				config := w.config()
				config.Table, config.Copies, config.Move = table, 1, 2
				table.before, table.after = nil, nil
				switch {
				case dead:
				case after:
					table.after = kill
				default:
					table.before = kill
				}
				if err := task(w.cloudOf(config)); err != nil && !errors.Is(err, killed) {
					t.Fatalf("killed at request %d: %v", n, err)
				}
				if reached = dead; !dead {
					continue
				}
				table.before, table.after = nil, nil
				if err := task(w.cloudOf(config)); err != nil {
					t.Fatalf("killed at request %d: second attempt: %v", n, err)
				}
			}
			w.table = table.Table
			importOld(t, w, true)
			want := int64(2*5 + len(oldLogs))
			if rows := w.state().Extent.Rows; rows != want {
				t.Fatalf("killed at request %d, after it: %t: %d rows, want %d", n, after, rows, want)
			}
			if t.Failed() {
				t.Fatalf("killed at request %d, after it: %t", n, after)
			}
		}
		if n < 100 {
			t.Errorf("the test reached only %d requests", n)
		}
	}
}

// TestMoveOverUnreliableNetwork moves old families over S3's protocol and DynamoDB with the permissions of ingest, and
// repeats every import until it succeeds.
func TestMoveOverUnreliableNetwork(t *testing.T) {
	if os.Getenv(dynamotest.Variable) == "" {
		t.Skipf("%s names no DynamoDB: start one with scripts/servers/dynamodb.sh start DIR", dynamotest.Variable)
	}
	for seed := range testlevel.Of[uint64](1, 2, 4) {
		d := newDeployment(t)
		d.restore("ledger-by-first-line.json.gz")
		config := d.config()
		config.Copies, config.Move = 1, 2
		moved := map[string]int{}
		config.Moved = func(_ context.Context, m ledgertable.Moved, _ error) { moved[m.Family] += m.Sources }
		store := d.cloudOf(config)
		importing := func(key, text string) {
			d.put(key, text)
			defer d.guard.As("ingest")()
			d.network.Script = faulttest.Sometimes(seed, 0.2, faulttest.Throttle, faulttest.Fail, faulttest.Break,
				faulttest.Lose, faulttest.FailLate, faulttest.Duplicate, faulttest.Cut)
			defer func() { d.network.Script = faulttest.Never }()
			for attempts := 1; ; attempts++ {
				_, err := store.Import(t.Context(), rawlog.Log{Key: key})
				if err == nil {
					return
				}
				if attempts == 100 {
					t.Fatal(err)
				}
			}
		}
		logs := int64(12)
		for n := range int(logs) {
			importing(cloudFrontKey(10+n), cloudFrontLog(10+n, 2))
			if n < 2 {
				d.time = d.time.Add(25 * time.Hour)
			}
		}
		if n := moved[ledger.Family([]byte(cloudFrontLog(0, 0)))]; n < 5 {
			t.Errorf("seed %d: %d sources have moved", seed, n)
		}
		for _, log := range oldLogs {
			importing(log.key, log.known)
			importing(log.key, log.grown)
		}
		if rows := d.state().Extent.Rows; rows != 2*logs+int64(len(oldLogs)) {
			t.Errorf("seed %d: %d rows, want %d", seed, rows, 2*logs+int64(len(oldLogs)))
		}
	}
}

// earlier is an import by the version before families of logs: it reads the family of the first line, and commits to it
// unless it knows the log.
type earlier struct {
	t         *testing.T
	table     lakestate.Table
	key, text string
	guard     lakestate.Item
	imports   int64
	done      bool // the log is known, or the import has failed
}

func (e *earlier) family() string { return ledger.Family([]byte(e.text)) }

func (e *earlier) read() {
	var err error
	e.guard, err = e.table.Get(e.t.Context(), lakestate.Key{Partition: "ingest#" + e.family(), Sort: "family"})
	if err != nil {
		e.t.Fatal(err)
	}
	var guard struct {
		Imports int64 `json:"imports"`
	}
	if e.guard.Read(&guard) != nil {
		e.done = true
		return
	}
	e.imports = guard.Imports
	imports, err := e.table.List(e.t.Context(), e.guard.Key.Partition, "import#")
	if err != nil {
		e.t.Fatal(err)
	}
	for _, item := range imports {
		e.done = e.done || strings.Contains(string(item.Body), fmt.Sprintf("%x", sha256.Sum256([]byte(e.text))))
	}
}

func (e *earlier) commit() {
	for !e.done {
		log := ledger.LogName(e.key)
		sum := fmt.Sprintf("%x", sha256.Sum256([]byte(e.text)))
		id := fmt.Sprintf("%x", sha256.Sum256([]byte(log+"\x00"+e.text)))[:16]
		var changes []lakestate.Change
		add := func(item lakestate.Item, body map[string]any) {
			change, err := lakestate.ChangeOf(item, body)
			if err != nil {
				e.t.Fatal(err)
			}
			changes = append(changes, change)
		}
		at := func(sort string) lakestate.Item {
			return lakestate.Item{Key: lakestate.Key{Partition: e.guard.Key.Partition, Sort: sort}}
		}
		add(e.guard, map[string]any{"imports": e.imports + 1})
		add(at("head#"+id), map[string]any{"gzip": gzipped.Of([]byte(e.text))})
		add(at("source#"+id), map[string]any{
			"id": id, "log": log, "format": "cloudfront", "head_length": len(e.text), "head_sha256": sum,
		})
		add(at("import#"+id+"#000001"), map[string]any{
			"source": id, "generation": 1, "log": log, "name": e.key, "at": testTime, "rules": 3, "length": len(e.text),
			"sha256": sum, "lines": strings.Count(e.text, "\n"), "terminated": true, "records": 2, "parts": 1,
			"attempt": "EARLIER",
		})
		lead := lakestate.Item{Key: lakestate.Key{Partition: "ingest#source#" + id, Sort: "family"}}
		add(lead, map[string]any{"family": e.family()})
		err := e.table.Write(e.t.Context(), changes...)
		if err == nil {
			return
		}
		if !errors.Is(err, lakestate.ErrConflict) {
			e.t.Fatal(err)
		}
		e.read()
	}
}

// TestEarlierVersionAtTheSameTime lets the version before families of logs import the same log: it reads the ledger
// before one request of this version and commits before the same or a later one.
func TestEarlierVersionAtTheSameTime(t *testing.T) {
	day := 25 * time.Hour
	for _, test := range []struct {
		name    string
		ledger  string
		imports int // of other logs with the same first line, each a day after the other
		move    int // sources that an import moves
	}{
		{"no family", "", 0, 1},
		{"an open family, whose move begins", "ledger-by-first-line.json.gz", 1, 1},
		{"a moving family", "ledger-by-first-line.json.gz", 2, 1},
		{"a family that has moved", "ledger-by-first-line.json.gz", 3, 100},
	} {
		t.Run(test.name, func(t *testing.T) {
			const key = "raw/cdn/E2EXAMPLE.2026-03-01-10.0000ffff.gz"
			text := cloudFrontLog(99, 2)
			commits := [2]int{} // by the earlier version and by this one
			requests := 100
			for read := 0; read < requests; read++ {
				for commit := read; commit <= requests; commit += max(1, stride()/5) {
					w := newWorld(t)
					if test.ledger != "" {
						w = newWorldWith(t, test.ledger)
					}
					for n := range test.imports {
						config := w.config()
						config.Move = test.move
						w.put(cloudFrontKey(20+n), cloudFrontLog(20+n, 2))
						if _, err := w.cloudOf(config).Import(t.Context(), rawlog.Log{Key: cloudFrontKey(20 + n)}); err != nil {
							t.Fatal(err)
						}
						w.pass(day)
					}
					table := &watchedTable{Table: w.table, written: map[lakestate.Key]json.RawMessage{}}
					other := &earlier{t: t, table: &watchedTable{Table: w.table, written: table.written}, key: key, text: text}
					n := 0
					table.before = func() error {
						if n == read {
							other.read()
						}
						if n == commit {
							other.commit()
						}
						n++
						return nil
					}
					config := w.config()
					config.Table, config.Copies, config.Move = table, 1, test.move
					w.put(key, text)
					before := w.state().Extent.Rows
					if _, err := w.cloudOf(config).Import(t.Context(), rawlog.Log{Key: key}); err != nil {
						t.Fatal(err)
					}
					requests = min(requests, n)
					if n <= read {
						other.read()
					}
					if n <= commit {
						other.commit()
					}
					attempts := map[string]bool{}
					for item, body := range table.written {
						var i struct{ Name, Attempt string }
						if err := json.Unmarshal(body, &i); err != nil {
							t.Fatal(err)
						}
						if strings.HasPrefix(item.Sort, "import#") && i.Name == key {
							attempts[i.Attempt] = true
						}
					}
					if len(attempts) != 1 {
						t.Fatalf("read at request %d, commit at %d: the log was committed by %v", read, commit, attempts)
					}
					rows := int64(0)
					if !attempts["EARLIER"] {
						rows = 2
						commits[1]++
					} else {
						commits[0]++
					}
					if again := w.importLog(key, text); again.Records != 0 {
						t.Fatalf("read at request %d, commit at %d: imported again: %+v", read, commit, again)
					}
					w.importLog(key, cloudFrontLog(99, 3))
					if got := w.state().Extent.Rows - before; got != rows+1 {
						t.Fatalf("read at request %d, commit at %d: %d rows, want %d", read, commit, got, rows+1)
					}
				}
			}
			t.Logf("%d requests; the earlier version commits %d times, this one %d times", requests, commits[0], commits[1])
		})
	}
}

// TestGrowingFirstLine imports a log while its first records are written, and copies of it in another order.
func TestGrowingFirstLine(t *testing.T) {
	header := cloudFrontLog(0, 0)
	whole := cloudFrontLog(0, 2)
	first := cloudFrontLog(0, 1)
	cut := strings.TrimSuffix(first, "0-0\n") // a record whose last field is cut off
	for name, copies := range map[string][]string{
		"the header, then records":      {header, whole, header},
		"a cut header":                  {header[:20], header, whole},
		"a cut first record":            {cut, first, whole},
		"an older copy of it":           {first, cut, whole, cut},
		"the header after the records":  {first, header, whole, header},
		"a first record without an end": {strings.TrimSuffix(first, "\n"), first, whole},
		"without directives":            {records(0, 1, 0)[:20], records(0, 1, 0), records(0, 2, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			for range 2 {
				for _, text := range copies {
					w.put("raw/a.log", text)
					_, err := w.cloud().Import(t.Context(), rawlog.Log{Key: "raw/a.log"})
					if err != nil && fault.KindOf(err) != fault.Invalid {
						t.Fatal(err)
					}
				}
			}
			if rows := w.state().Extent.Rows; rows != 2 {
				t.Errorf("%d rows, want 2", rows)
			}
		})
	}
}
