package repair

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/cloud/bucket"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
)

// maxLost is the maximum number of objects that the state lists as lost. So many damaged objects are more likely the
// mistake of a program that reads or writes them than damage, and setting them aside would hide it.
const maxLost = 1000

// setAside keeps a damaged object in the quarantine, with a note about the reason, and lists it in the state as lost.
// It does not remove the object: the caller does so, or makes readers read other objects. Every step may be repeated,
// and several compactions may do so at the same time.
func (r *Repairer) setAside(ctx context.Context, hour lake.Partition, name, sum string, reason error) error {
	kept := damagedName(name, sum)
	if err := r.Lake.CopyVerified(ctx, name, kept); err != nil {
		return fmt.Errorf("set aside damaged object %s: %w", name, err)
	}
	now := r.Now().UTC()
	note, err := json.MarshalIndent(struct {
		Object string    `json:"object"`
		Kept   string    `json:"kept"`
		At     time.Time `json:"at"`
		Reason string    `json:"reason"`
	}{name, kept, now, reason.Error()}, "", "  ")
	if err != nil {
		return err
	}
	if err := r.Lake.Put(ctx, kept+".json", bytes.NewReader(append(note, '\n')), blob.Always); err != nil {
		return err
	}
	tooMany := false
	_, err = r.ChangeState(ctx, func(s *lakestate.State) bool {
		lost := lakestate.LostObject{Name: lake.NameOf(name), Hour: hour, At: now}
		if s.HasLost(lost.Name) {
			return false
		}
		if tooMany = len(s.Lost) >= maxLost; tooMany {
			return false
		}
		s.Lost = append(s.Lost, lost)
		s.Changed(hour.Day())
		return true
	})
	if err == nil && tooMany {
		err = fmt.Errorf("object %s is damaged, and %d objects are lost already: see the notes in %s",
			name, maxLost, bucket.DamagedRoot)
	}
	return err
}

// damagedName returns the name in the quarantine of a damaged object with that SHA-256.
func damagedName(name, sum string) string {
	return fmt.Sprintf("%s%s.%.16s.parquet", bucket.DamagedRoot, strings.TrimSuffix(lake.NameOf(name), ".parquet"), sum)
}

// SetAsideDamaged examines the objects of a merge that has failed, and sets the damaged ones aside. It returns the
// others. If no object is damaged, it returns the error of the merge.
func (r *Repairer) SetAsideDamaged(
	ctx context.Context, hour lake.Partition, copies []bucket.LocalCopy, failed error, report *Report,
) ([]bucket.LocalCopy, error) {
	var whole []bucket.LocalCopy
	for _, object := range copies {
		if err := ctx.Err(); err != nil {
			return nil, errors.Join(failed, err)
		}
		damage := ingest.Verify(object.Path)
		if damage == nil {
			whole = append(whole, object)
			continue
		}
		if local := (*fs.PathError)(nil); errors.As(damage, &local) {
			return nil, errors.Join(failed, damage) // of the local disk
		}
		sum, err := bucket.FileSum(object.Path)
		if err != nil {
			return nil, errors.Join(failed, err)
		}
		if err := r.sameContent(ctx, object.Name, sum); err != nil {
			return nil, errors.Join(failed, err)
		}
		if err := r.setAside(ctx, hour, object.Name, sum, damage); err != nil {
			return nil, err
		}
		report.Damaged = append(report.Damaged, object.Name)
	}
	if len(whole) == len(copies) {
		return nil, failed
	}
	return whole, nil
}

// sameContent returns an error if the content of an object is not what was read from it before, so that a mistake of a
// transfer is never taken for damage.
func (r *Repairer) sameContent(ctx context.Context, name, sum string) error {
	stored, err := r.Lake.Sum(ctx, name)
	if err == nil && stored != sum {
		err = fmt.Errorf("read %s: two reads have the SHA-256 %s and %s", name, sum, stored)
	}
	return err
}
