package keys

import (
	"context"

	"github.com/orrery/orrery/shared/api"
)

// Either knows the callers that any of several knows. It implements api.Keys.
type Either []api.Keys

// Find implements api.Keys: the first that knows the key says what it allows.
func (e Either) Find(ctx context.Context, hash api.KeyHash) (api.Key, bool, error) {
	for _, one := range e {
		if key, ok, err := one.Find(ctx, hash); ok || err != nil {
			return key, ok, err
		}
	}
	return api.Key{}, false, nil
}
