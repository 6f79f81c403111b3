package ledgersqlite

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/ingest/ledger"
	"github.com/orrery/orrery/shared/lake"
)

// header begins every log of a server, as with IIS.
const header = "#Software: IIS\n#Fields: date time c-ip\n"

func pathOf(n int) string { return fmt.Sprintf("/srv/W3SVC%d/u_ex%d.log", n%10, n) }
func textOf(n int) []byte { return fmt.Appendf(nil, "%s2026-03-01 10:00:00 %d\n", header, n) }

func open(t *testing.T, path string) *Ledger {
	t.Helper()
	l, err := Open(t.Context(), path, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l.(*Ledger)
}

// addOld adds sources as an earlier version does, each with one import.
func addOld(t *testing.T, l *Ledger, from, to int) {
	t.Helper()
	tx, err := l.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for n := from; n < to && err == nil; n++ {
		text := textOf(n)
		sum, id := sha256.Sum256(text), fmt.Sprint(n)
		_, err = tx.Exec(`INSERT INTO source (id, head_length, head_sha256, format, log) VALUES (?, ?, ?, 'w3c', ?)`,
			id, len(text), sum[:], pathOf(n))
		if err == nil {
			_, err = tx.Exec(`INSERT INTO head VALUES (?, ?, ?)`, id, ledger.Family(text), text)
		}
		if err == nil {
			_, err = tx.Exec(`
INSERT INTO import (source, generation, name, at, rules, length, sha256, lines, terminated, records, rejected, parts,
                    objects, staging, published, log)
VALUES (?, 1, ?, '2026-03-01T10:00:00Z', 3, ?, ?, 3, 1, 1, 0, 1, '[]', '', 1, ?)`,
				id, pathOf(n), len(text), sum[:], pathOf(n))
		}
	}
	if err == nil {
		err = tx.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// commit adds a source with one import.
func commit(t *testing.T, l *Ledger, id, log string, text []byte) {
	t.Helper()
	err := l.Commit(t.Context(), ledger.Entry{
		Source: id, Log: log, Format: "w3c", Head: text, Family: ledger.Family(text), Generation: 1, At: time.Unix(0, 0),
		Length: int64(len(text)), Sum: sha256.Sum256(text), Objects: []lake.Object{},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// expectKnown expects that a log is known, grown or not, and by its beginning.
func expectKnown(t *testing.T, l *Ledger, n int) {
	t.Helper()
	for _, text := range [][]byte{textOf(n), append(textOf(n), "more\n"...)} {
		entries, err := l.Candidates(t.Context(), pathOf(n), text)
		if err != nil || len(entries) != 1 || entries[0].Source != fmt.Sprint(n) {
			t.Errorf("log %d is known as %+v, %v", n, entries, err)
		}
	}
	for _, text := range [][]byte{[]byte(header), textOf(n)[:len(textOf(n))-2]} {
		source, err := l.Beginning(t.Context(), pathOf(n), text)
		if err != nil || source != fmt.Sprint(n) {
			t.Errorf("a copy of log %d of %d bytes is known as %q, %v", n, len(text), source, err)
		}
	}
}

// TestFamiliesOfAnEarlierVersion opens a ledger with 20,000 sources of an earlier version, after processes that were
// killed have set the families of some of them.
func TestFamiliesOfAnEarlierVersion(t *testing.T) {
	const sources = 20_000
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := open(t, path)
	addOld(t, l, 0, sources)
	for range 3 { // a transaction each, so a process may die between any two of them
		if err := l.setPage(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	var set int
	const count = `SELECT count(*) FROM source WHERE family <> ''`
	if err := l.db.QueryRow(count).Scan(&set); err != nil || set != 3*setPage {
		t.Fatalf("%d families are set, %v", set, err)
	}
	other := open(t, path)
	if err := l.db.QueryRow(count).Scan(&set); err != nil || set != sources {
		t.Fatalf("%d families are set, %v", set, err)
	}
	addOld(t, l, sources, sources+1) // by a process of the earlier version that still runs
	for _, n := range []int{0, 1, 3*setPage + 1, sources - 1, sources} {
		expectKnown(t, other, n)
	}
	entries, err := other.Candidates(t.Context(), pathOf(7), textOf(8))
	if err != nil || len(entries) > 0 {
		t.Errorf("another log with the same header: %+v, %v", entries, err)
	}
	fresh := sources + 1
	commit(t, other, fmt.Sprint(fresh), pathOf(fresh), textOf(fresh))
	expectKnown(t, other, fresh)
}

// TestSearchesReadFewRows: every search of an import finds its rows by indexes, and these are the rows of a few
// families, however many sources there are.
func TestSearchesReadFewRows(t *testing.T) {
	const old = 20_000
	l := open(t, filepath.Join(t.TempDir(), "ledger.db"))
	addOld(t, l, 0, old)
	if err := l.setFamilies(t.Context()); err != nil {
		t.Fatal(err)
	}
	rows := func(log string, text []byte) (n int) {
		t.Helper()
		near, args := nearBy(log, text)
		if err := l.db.QueryRow(`SELECT count(*) FROM source s WHERE `+near, args...).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for n := old; n < old+400; n++ {
		for _, log := range []string{pathOf(n), "one.log"} { // a name of its own, and one that all have
			commit(t, l, log+fmt.Sprint(n), log, textOf(n))
			most := map[string]int{"one.log": 32}
			if whole, head := rows(log, textOf(n)), rows(log, []byte(header)); whole != 1 || head > max(1, most[log]) {
				t.Fatalf("log %d, %s: a search reads %d sources, and %d for its header", n, log, whole, head)
			}
		}
	}
	checkPlans(t, l)
}

// checkPlans checks that all searches use indexes.
func checkPlans(t *testing.T, l *Ledger) {
	t.Helper()
	whole, header := textOf(1), []byte(header)
	nearWhole, wholeArgs := nearBy("a.log", whole)
	nearHeader, headerArgs := nearBy("a.log", header)
	args := func(of []any, more ...any) []any { return append(append([]any{}, of...), more...) }
	for name, search := range map[string]struct {
		sql  string
		args []any
	}{
		"sources without family":  {selectUnset, nil},
		"beginnings":              {selectBeginnings, args(families("a.log", whole), 9)},
		"entries of a source":     {selectEntries + whereSource, []any{"a", "a.log"}},
		"a longer log":            {selectBeginning(nearWhole), args(wholeArgs, "a.log", 9, 9, whole)},
		"a log longer than that":  {selectBeginning(nearHeader), args(headerArgs, "a.log", 9, 9, header)},
		"a forgotten log":         {selectForgotten(nearWhole), args(wholeArgs, "a.log", whole, whole)},
		"a forgotten log by name": {selectForgotten(nearHeader), args(headerArgs, "a.log", header, header)},
	} {
		rows, err := l.db.Query("EXPLAIN QUERY PLAN "+search.sql, search.args...)
		if err != nil {
			t.Fatal(err)
		}
		searches := 0
		for rows.Next() {
			var id, parent, unused int
			var step string
			if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(step, "SEARCH") {
				searches++
			}
			if strings.Contains(step, "SCAN") && step != "SCAN CONSTANT ROW" {
				t.Errorf("%s: %s", name, step)
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
		if searches == 0 {
			t.Errorf("%s: the plan has no search", name)
		}
	}
}

// TestReadOnlyWithoutFamilies: the ledger of a version before families can be read in a folder that cannot be written.
func TestReadOnlyWithoutFamilies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := open(t, path)
	addOld(t, l, 0, 1)
	if _, err := l.db.Exec(`DROP INDEX source_by_family; ALTER TABLE source DROP COLUMN family`); err != nil {
		t.Fatal(err)
	}
	old, err := Open(t.Context(), path, true)
	if err != nil {
		t.Fatal(err)
	}
	sources, err := old.Sources(t.Context())
	if err := errors.Join(err, old.Close()); err != nil || len(sources) != 1 {
		t.Errorf("%d sources, %v", len(sources), err)
	}
}
