package manifest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/lake"
)

// Retention is how long a lake directory keeps records. The zero value means that nothing was removed for its age.
type Retention struct {
	Keep time.Duration  // whole hours; 0 for ever
	From lake.Partition // the objects of the hours before it have been removed
}

// retentionEntry is the JSON form of a Retention.
type retentionEntry struct {
	KeepHours int64  `json:"keep_hours"`
	From      string `json:"from"` // yyyy-MM-dd-HH
}

func entryOf(r Retention) *retentionEntry {
	return &retentionEntry{int64(r.Keep / time.Hour), hourName(r.From)}
}

// retention returns the Retention of a head.
func (h head) retention() (Retention, error) {
	if h.Retention == nil {
		return Retention{}, nil
	}
	from, err := parseHour(h.Retention.From)
	return Retention{time.Duration(h.Retention.KeepHours) * time.Hour, from}, err
}

// Retention returns how long records are kept.
func (s *Store) Retention(context.Context) (Retention, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(); err != nil {
		return Retention{}, err
	}
	return s.retention, nil
}

// Retention returns how long records are kept.
func (u *Update) Retention() Retention { return u.retention }

// Drop removes the manifest of an hour before Retention.From. It returns an error if the hour has objects, current or
// superseded.
func (u *Update) Drop(p lake.Partition) error {
	h, err := u.read(p)
	if err != nil {
		return err
	}
	if len(h.Objects)+len(h.Superseded) > 0 || p >= u.retention.From {
		return fmt.Errorf("manifest %s is needed", hourPath(u.store.dir, p))
	}
	if err := os.Remove(hourPath(u.store.dir, p)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove manifest: %w", err)
	}
	u.store.mu.Lock()
	defer u.store.mu.Unlock()
	if err := u.store.refresh(); err != nil { // the hour is in the list of changes
		return err
	}
	if i, found := slices.BinarySearch(u.store.known, p); found {
		u.store.known = slices.Delete(u.store.known, i, i+1)
	}
	delete(u.store.hours, p)
	return nil
}
