package keys

import "context"

// Union is the callers of several sources. It implements Callers.
type Union []Callers

// Find implements Callers. The first source that knows the key decides.
func (u Union) Find(ctx context.Context, hash Hash) (Caller, bool, error) {
	for _, source := range u {
		if caller, ok, err := source.Find(ctx, hash); ok || err != nil {
			return caller, ok, err
		}
	}
	return Caller{}, false, nil
}
