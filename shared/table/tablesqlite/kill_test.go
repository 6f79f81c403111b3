package tablesqlite_test

import (
	"bufio"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"modernc.org/sqlite"

	"github.com/orrery/orrery/shared/table"
	"github.com/orrery/orrery/shared/table/tablesqlite"
)

// Environment variables of a child process, see TestMain.
const (
	childPath = "ORRERY_TEST_TABLE" // the file that it opens
	childTask = "ORRERY_TEST_TASK"  // what it does: it writes, or is killed at a step of the move of rows
)

func TestMain(m *testing.M) {
	path := os.Getenv(childPath)
	if path == "" {
		os.Exit(m.Run())
	}
	var err error
	if task := os.Getenv(childTask); task == "write" {
		err = writeForEver(path)
	} else {
		err = moveUntil(path, task)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(1)
}

// child returns a process of this program.
func child(path, task string) *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childPath+"="+path, childTask+"="+task)
	c.Stderr = os.Stderr
	return c
}

// TestKilledWriterLosesNothing kills a process that writes items and reports each one that was acknowledged. All reported
// items must be in the file, complete. This process writes to the same file meanwhile.
func TestKilledWriterLosesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "items.db")
	in := open(t, path, tablesqlite.Documents)
	own := 0
	for _, reports := range []int{1, 7, 40} {
		acknowledged := killWriterAfter(t, path, reports, func() {
			own++
			if err := in.Write(t.Context(), numbered("ours", own)); err != nil {
				t.Fatalf("beside another writer: %v", err)
			}
		})
		list, err := table.List(t.Context(), in, table.Range{Partition: "killed"})
		if err != nil {
			t.Fatal(err)
		}
		if len(list) < acknowledged {
			t.Fatalf("item %d was acknowledged, and there are %d", acknowledged, len(list))
		}
		for i, item := range list {
			if want := numbered("killed", i+1); item.Key != want.Key || item.Attributes["body"] != want.Attributes["body"] {
				t.Fatalf("item %d is not as it was written: %v", i+1, item.Key)
			}
		}
	}
}

// numbered returns the change that adds item n of a partition, which fills several pages.
func numbered(partition string, n int) table.Change {
	return table.Change{
		Key:        table.Key{Partition: partition, Sort: fmt.Sprintf("%06d", n)},
		Attributes: table.Attributes{"body": fmt.Sprintf("item %d %s", n, strings.Repeat("x", 20_000))},
		When:       table.Absent,
	}
}

// killWriterAfter kills a writing process after a number of reports and returns the last item that it reported. It calls
// beside at every report.
func killWriterAfter(t *testing.T, path string, reports int, beside func()) int {
	t.Helper()
	writer := child(path, "write")
	out, err := writer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Start(); err != nil {
		t.Fatal(err)
	}
	last, lines := 0, bufio.NewScanner(out)
	for n := 0; lines.Scan(); n++ {
		if _, err := fmt.Sscanf(lines.Text(), "item %d", &last); err != nil {
			t.Fatalf("the writer printed %q", lines.Text())
		}
		beside()
		if n == reports {
			if err := writer.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	var ended *exec.ExitError
	if err := writer.Wait(); !errors.As(err, &ended) || ended.Exited() {
		t.Fatalf("the writer ended by itself: %v", err)
	}
	return last
}

// writeForEver adds items and reports each on standard output.
func writeForEver(path string) error {
	in, err := tablesqlite.Open(context.Background(), path, tablesqlite.Documents)
	if err != nil {
		return err
	}
	list, err := table.List(context.Background(), in, table.Range{Partition: "killed"})
	if err != nil {
		return err
	}
	for n := len(list) + 1; ; n++ {
		if err := in.Write(context.Background(), numbered("killed", n)); err != nil {
			return err
		}
		if _, err := io.WriteString(os.Stdout, fmt.Sprintf("item %d\n", n)); err != nil {
			return err
		}
	}
}

// moveUntil moves the rows of a file of an earlier release, and kills this process at a step.
func moveUntil(path, step string) error {
	kill := func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) {
		os.Exit(killed)
		return nil, nil
	}
	if err := sqlite.RegisterScalarFunction("kill", 0, kill); err != nil {
		return err
	}
	_, err := tablesqlite.Open(context.Background(), path, earlier[filepath.Base(path)].layout.KilledAt(step))
	return err
}

const killed = 9

// TestKilledWhileRowsAreMoved: the file is then as it was, and the next process moves its rows. It has so many that SQLite
// writes some of them to the file before the end of the transaction.
func TestKilledWhileRowsAreMoved(t *testing.T) {
	const more = "WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 150) INSERT INTO "
	for name, test := range map[string]struct {
		insert string
		count  string // the statement that counts the rows
		items  table.Range
	}{
		"documents.db": {
			"document_versions SELECT 'note/c/n', value, 0, '', '', 1, hex(randomblob(10000)) FROM n",
			"SELECT count(*) FROM document_versions WHERE id = 'note/c/n'", table.Range{Partition: "note#c", Prefix: "settings#n#"},
		},
		"keys.db": {
			"keys SELECT 'x' || value, randomblob(32), hex(randomblob(10000)), '[]', 'null', 0, NULL, NULL, NULL FROM n",
			"SELECT count(*) FROM keys WHERE id LIKE 'x%'", table.Range{Partition: "keys", Prefix: "x"},
		},
	} {
		for _, step := range tablesqlite.Steps {
			t.Run(name+" "+step, func(t *testing.T) {
				path := copyOf(t, name)
				execute(t, path, more+test.insert)
				var ended *exec.ExitError
				if err := child(path, step).Run(); !errors.As(err, &ended) || ended.ExitCode() != killed {
					t.Fatalf("the process ended by itself: %v", err)
				}
				if rows := query(t, path, test.count); rows[0] != "150 " {
					t.Errorf("%s rows after the kill", rows)
				}
				list, err := table.List(t.Context(), open(t, path, earlier[name].layout), test.items)
				if err != nil || len(list) != 150 {
					t.Errorf("%d items, %v", len(list), err)
				}
			})
		}
	}
}
