package keys

import (
	"context"
	"fmt"
	"time"

	"github.com/orrery/orrery/shared/fault"
)

// WhyUnusable returns why the key with an ID cannot be used at a time, in words after because; "": it can.
func WhyUnusable(ctx context.Context, store Store, id string, at time.Time) (string, error) {
	k, err := store.Find(ctx, id)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return fmt.Sprintf("the key %s that wrote it is not known any more", id), nil
	case err != nil:
		return "", err
	case k.State(at) == usable:
		return "", nil
	}
	since := k.Expires
	if !k.Revoked.IsZero() {
		since = k.Revoked
	}
	return fmt.Sprintf("the key %s (%s) that wrote it is %s since %s", id, k.Name, k.State(at),
		since.UTC().Format(time.RFC3339)), nil
}
