package datadir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir/ledgersqlite"
	"github.com/orrery/orrery/shared/ingest/ledger"
	"github.com/orrery/orrery/shared/lake"
)

// fullLedger is a ledger on a disk that is full when an import is to be marked as published.
type fullLedger struct{ ledger.Ledger }

func (fullLedger) MarkPublished(context.Context, ledger.Entry) error {
	return fmt.Errorf("write ledger: %w", syscall.ENOSPC)
}

// TestOpenOnAFullDisk: a directory is read whichever step of opening it needs space, and says why it is not changed.
func TestOpenOnAFullDisk(t *testing.T) {
	for name, open := range map[string]ledger.Open{
		"the ledger cannot be opened": func(context.Context, string, bool) (ledger.Ledger, error) {
			return nil, fmt.Errorf("open ledger: %w", syscall.ENOSPC)
		},
		"an import cannot be published": func(ctx context.Context, path string, _ bool) (ledger.Ledger, error) {
			l, err := ledgersqlite.Open(ctx, path, false)
			return fullLedger{l}, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writer := openStore(t, dir)
			importText(t, writer, lines(0, 10), ingest.Options{})
			commitOne(t, writer)
			s, err := Open(t.Context(), dir, open, time.Now)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}()
			if got := len(rowsOf(t, s)); got != 10 {
				t.Errorf("%d rows", got)
			}
			_, imported := s.Import(t.Context(), "x", strings.NewReader(lines(0, 20)), ingest.Options{})
			_, compacted := s.Compact(t.Context(), CompactOptions{})
			watched := newWatcherTest(t, s).w.Poll(t.Context(), testTime, nil)
			for what, err := range map[string]error{"import": imported, "compact": compacted, "watch": watched} {
				if fault.KindOf(err) != fault.Full || !strings.HasPrefix(err.Error(), "the disk is full") {
					t.Errorf("%s: %v", what, err)
				}
			}
			if through, err := s.CompleteThrough(t.Context()); err != nil || !through.IsZero() {
				t.Errorf("the files of the watched folder wait, but the data is complete through %v, %v", through, err)
			}
		})
	}
	t.Run("the folder of the lake cannot be made", func(t *testing.T) {
		dir := t.TempDir()
		// A file in its place cannot be opened as a folder either, whatever the permissions.
		if err := os.WriteFile(filepath.Join(dir, "lake"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), dir, ledgersqlite.Open, time.Now); !errors.Is(err, syscall.ENOTDIR) {
			t.Errorf("%v", err)
		}
	})
}

// commitOne commits an import without objects that is not published, as if the process had died then.
func commitOne(t *testing.T, s *Store) {
	t.Helper()
	head := []byte("committed\n")
	e := ledger.Entry{Generation: 1, Head: head, Family: ledger.Family(head), Objects: []lake.Object{}}
	e.Source, e.At = "committed", time.Unix(0, 0)
	if err := s.ledger.Commit(t.Context(), e); err != nil {
		t.Fatal(err)
	}
}
