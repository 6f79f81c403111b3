package valuelist

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/query"
)

// Finder finds the lists that filters name. It keeps the values of the lists that were named last.
type Finder struct {
	documents document.Store
	objects   Objects

	mu     sync.Mutex
	values []*query.ListValues // the last used one is the last
}

// mostKept is the number of lists whose values are kept. The values of one list may take 20 MB.
const mostKept = 8

// NewFinder returns a finder of the lists in stores.
func NewFinder(documents document.Store, objects Objects) *Finder {
	return &Finder{documents: documents, objects: objects}
}

// Find returns a list by its name in a filter: tor, staging/tor, tor:3. branches are those that the caller may see, which
// are names of configurations; nil: all. The error is of kind fault.NotFound if there is no such list or version.
func (f *Finder) Find(ctx context.Context, name string, branches []string) (query.List, error) {
	id, number := parseName(name)
	if branches != nil && !slices.Contains(branches, id.Config) {
		return query.List{}, document.NotFound(id, 0)
	}
	var v document.Version
	var err error
	if number == 0 {
		v, err = document.Current(ctx, f.documents, id)
	} else {
		v, err = document.Read(ctx, f.documents, id, number)
	}
	if err != nil {
		return query.List{}, err
	}
	d, err := Stored(v.Text)
	if err != nil {
		return query.List{}, err
	}
	values, err := f.load(ctx, d)
	name, _, _ = strings.Cut(name, ":")
	return query.List{Name: strings.TrimPrefix(name, planet.FirstConfig+"/"), Version: v.Number, Values: values}, err
}

// parseName returns the list that a name is of, and the number of its version, or 0 for the newest one.
func parseName(name string) (id document.ID, number int) {
	name, version, _ := strings.Cut(name, ":")
	config, rest, found := strings.Cut(name, "/")
	if !found {
		config, rest = planet.FirstConfig, name
	}
	number, _ = strconv.Atoi(version) // the language allows only numbers
	return DocumentOf(config, rest), number
}

func (f *Finder) load(ctx context.Context, d Description) (*query.ListValues, error) {
	if values := f.kept(d.Digest); values != nil {
		return values, nil
	}
	read, err := Read(ctx, f.objects, d.Digest)
	if err != nil {
		return nil, err
	}
	values := query.NewListValues(d.Digest, read)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.values = append(f.values, values)
	f.values = f.values[max(0, len(f.values)-mostKept):]
	return values, nil
}

// kept returns values that are kept, or nil.
func (f *Finder) kept(digest string) *query.ListValues {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.values, func(v *query.ListValues) bool { return v.Digest == digest })
	if i < 0 {
		return nil
	}
	values := f.values[i]
	f.values = append(slices.Delete(f.values, i, i+1), values)
	return values
}
