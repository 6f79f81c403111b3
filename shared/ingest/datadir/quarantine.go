package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/orrery/orrery/shared/ingest"
)

// quarantinePath returns the file of the rejected lines of an import: <source>.ndjson for the first import of a source,
// and <source>.<generation>.ndjson for the later ones.
func (s *Store) quarantinePath(source string, generation int) string {
	name := source + ".ndjson"
	if generation > 1 {
		name = fmt.Sprintf("%s.%d.ndjson", source, generation)
	}
	return filepath.Join(s.quarantineDir(), name)
}

// placeQuarantine moves the file of the rejected lines of an import into place. If there are none, it removes the file
// that an earlier import of the same lines may have left.
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
