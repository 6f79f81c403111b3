package listsource

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/publicnet"
	"github.com/orrery/orrery/shared/tomlfile"
	"github.com/orrery/orrery/shared/valuelist"
)

// How long a list is not asked for again: after it was read, and after that failed.
const (
	Every      = 24 * time.Hour
	retryAfter = time.Hour
)

// writer is the name in the versions of lists that were refreshed.
const writer = tomlfile.Name

// Refresher writes a new version of each list whose published values have changed.
type Refresher struct {
	Sources   []Source
	Documents document.Store
	Objects   valuelist.Objects
	Network   publicnet.Network
	Log       *slog.Logger
	Now       func() time.Time

	due map[Source]time.Time // zero: at once
}

// Loop refreshes the lists that are due, at once and for each tick of a clock, until ctx ends.
func (r *Refresher) Loop(ctx context.Context, ticks <-chan time.Time) {
	for {
		r.Tick(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
	}
}

// Tick refreshes the lists that are due. It logs each failure, after which the list keeps its values.
func (r *Refresher) Tick(ctx context.Context) {
	for _, s := range r.Sources {
		if r.Now().Before(r.due[s]) || ctx.Err() != nil {
			continue
		}
		next := Every
		version, err := r.refresh(ctx, s)
		switch {
		case err != nil && ctx.Err() != nil:
			return
		case err != nil:
			next = retryAfter
			r.Log.Warn("a list of values was not refreshed and keeps its values", "list", s.String(), "error", err)
		case version.Number > 0:
			r.Log.Info("a list of values has changed", "list", s.String(), "version", version.Number)
		}
		if r.due == nil {
			r.due = map[Source]time.Time{}
		}
		r.due[s] = r.Now().Add(next)
	}
}

// refresh writes a new version of a list and returns it, or the zero value if the values are those of the newest version.
func (r *Refresher) refresh(ctx context.Context, s Source) (document.Version, error) {
	text, err := Fetch(ctx, r.Network, s.URL)
	if err != nil {
		return document.Version{}, err
	}
	found, values, err := valuelist.Parse(text)
	if err != nil {
		return document.Version{}, err
	}
	id := valuelist.DocumentOf(s.Config, s.Name)
	newest, err := document.Current(ctx, r.Documents, id)
	condition := document.Precondition{Absent: true}
	switch {
	case fault.KindOf(err) == fault.NotFound:
	case err != nil:
		return document.Version{}, err
	default:
		condition = document.Precondition{Match: []string{newest.ETag}}
		have, err := valuelist.Stored(newest.Text)
		if err != nil || have.Digest == found.Digest {
			return document.Version{}, err
		}
		if err := checkChange(have, found, s); err != nil {
			return document.Version{}, err
		}
	}
	if err := r.Objects.Put(ctx, found.Digest, values); err != nil {
		return document.Version{}, err
	}
	return document.Put(ctx, r.Documents, id, document.Change{
		Text: found.Text(), By: writer, At: r.Now(), Precondition: condition,
	})
}

// checkChange returns an error if values look like those of a publisher who made a mistake.
func checkChange(have, found valuelist.Description, s Source) error {
	const remedy = "if this is right, run 'orrery list put %s URL --config %s'"
	if found.Kind != have.Kind {
		return fmt.Errorf("the values were %s and are %s now; "+remedy, have.Kind, found.Kind, s.Name, s.Config)
	}
	if found.Values <= have.Values/2 {
		return fmt.Errorf("the list had %d values and has %d now; "+remedy, have.Values, found.Values, s.Name, s.Config)
	}
	return nil
}
