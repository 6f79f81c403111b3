package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/orrery/orrery/shared/ingest"
)

// quarantinePath is the file of the rejected lines of an import: <source>.ndjson, and <source>.<generation>.ndjson for
// what a grown source added.
func (s *Store) quarantinePath(source string, generation int) string {
	name := source + ".ndjson"
	if generation > 1 {
		name = fmt.Sprintf("%s.%d.ndjson", source, generation)
	}
	return filepath.Join(s.quarantineDir(), name)
}

// placeQuarantine moves the rejected lines of an import to their place. Without any, it removes what an import of the
// same lines, as they were before, has left there.
func (s *Store) placeQuarantine(staging, source string, generation int, rejected int64) error {
	path := s.quarantinePath(source, generation)
	if rejected > 0 {
		return moveDurably(filepath.Join(staging, ingest.QuarantineFile), path)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove quarantine: %w", err)
	}
	return nil
}
