package manifest

import (
	"encoding/json"
	"fmt"

	"github.com/orrery/orrery/shared/lake"
)

// HeadName is the name of the head file below the lake directory, with slashes.
const HeadName = "manifests/_head.json"

// Snapshot returns the current objects, in the order of partitions and paths, and the content of a head file that lists
// all of them by itself: in a lake directory without other manifests, it is the index of a copy of these objects. Path
// of an object is its name below the lake directory.
func (u *Update) Snapshot() (head []byte, objects []lake.Object, err error) {
	hours, err := listHours(u.store.dir)
	if err != nil {
		return nil, nil, err
	}
	alone := u.head
	alone.Recent = nil // readers that know an earlier state read all hours again
	for _, p := range hours {
		h, err := u.read(p)
		if err != nil {
			return nil, nil, err
		}
		if len(h.Objects) == 0 {
			continue
		}
		h.Superseded = nil // the copy does not have them
		alone.Pending = append(alone.Pending, h)
		listed, err := u.Hour(p)
		if err != nil {
			return nil, nil, err
		}
		objects = append(objects, listed.Objects...)
	}
	head, err = json.Marshal(alone)
	if err != nil {
		return nil, nil, fmt.Errorf("copy the index: %w", err)
	}
	return append(head, '\n'), objects, nil
}
