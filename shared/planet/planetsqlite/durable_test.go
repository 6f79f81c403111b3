package planetsqlite

import (
	"path/filepath"
	"testing"
	"time"
)

// TestEveryConnectionIsDurable: SQLite keeps the settings per connection, not per file.
func TestEveryConnectionIsDurable(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "planets.db"), time.UnixMilli(0))
	if err != nil {
		t.Fatal(err)
	}
	for range connections {
		c, err := s.file.Conn(t.Context()) // stays open, so that the next one is another connection
		if err != nil {
			t.Fatal(err)
		}
		for option, want := range map[string]string{
			"journal_mode": "wal",
			"synchronous":  "2",
			"busy_timeout": "10000",
		} {
			var got string
			if err := c.QueryRowContext(t.Context(), "PRAGMA "+option).Scan(&got); err != nil || got != want {
				t.Errorf("%s is %q, %v, want %q", option, got, err, want)
			}
		}
		defer func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}()
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestNewerFormatIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "planets.db")
	s, err := Open(t.Context(), path, time.UnixMilli(0))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.file.ExecContext(t.Context(), "PRAGMA user_version = 2"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path, time.UnixMilli(0)); err == nil {
		t.Error("it was opened")
	}
}
