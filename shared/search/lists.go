package search

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
)

// Lists finds lists of values.
type Lists interface {
	// Find returns the version of a list that the name has, or the newest one. branches are those that the caller may
	// see; nil: all. The error is of kind fault.NotFound if there is no such list, or none that the caller may see.
	Find(ctx context.Context, name string, branches []string) (query.List, error)
}

// UseLists sets where the service finds lists of values. It must be called before the first request. Without it, there
// are no lists.
func (s *Service) UseLists(l Lists) { s.lists = l }

// withLists returns the request with the lists of values that its filters name. It finds the version of each name once:
// a request that is bound again has the same versions, and so have requests whose lists are pinned together.
func (s *Service) withLists(ctx context.Context, r Request, f filter.Filter) (Request, error) {
	r.Found = map[string]query.List{}
	versions, pinned := map[string]string{}, pinnedIn(ctx)
	for _, name := range append(f.ListNames(), r.otherListNames()...) {
		if _, found := r.Found[name]; found || s.lists == nil {
			continue
		}
		version, bound := r.Lists[name]
		if !bound {
			version = pinned.version(name)
		}
		list, err := s.lists.Find(ctx, version, r.Branches)
		if err == nil && !bound {
			if first := pinned.pin(name, list.String()); first != list.String() { // another request has just found it
				list, err = s.lists.Find(ctx, first, r.Branches)
			}
		}
		if fault.KindOf(err) == fault.NotFound {
			continue // binding reports the place of the name
		}
		if err != nil {
			return r, fmt.Errorf("find the list of values %q: %w", name, err)
		}
		r.Found[name], versions[name] = list, list.String()
	}
	if r.Lists = nil; len(versions) > 0 {
		r.Lists = versions
	}
	return r, nil
}

// otherListNames returns the names of lists in filters other than the filter of the request.
func (r Request) otherListNames() []string {
	var names []string
	if strings.Contains(r.Select, "@") || strings.Contains(r.Select, `"list"`) {
		names = r.Syntax.Parse(r.Select).ListNames()
	}
	for _, list := range readAnyOf(r.AnyOf) {
		names = append(names, listNames(list)...)
	}
	if !strings.Contains(r.Of, "@") {
		return names
	}
	var conditions []string
	if r.Route == Sequences {
		var of SequencesOf
		if json.Unmarshal([]byte(r.Of), &of) == nil {
			conditions = of.Of
			for _, lists := range of.AnyOf {
				conditions = append(conditions, slices.Concat(lists...)...)
			}
		}
	} else if json.Unmarshal([]byte(r.Of), &conditions) != nil {
		return names // the shape reports the mistake
	}
	return append(names, listNames(conditions)...)
}

// listNames returns the names of lists in filters.
func listNames(filters []string) (names []string) {
	for _, text := range filters {
		names = append(names, filter.ParseQueryString(text).ListNames()...)
	}
	return names
}

// listOptions returns the option for the lists of the request. Without lists, their names are kept.
func (r Request) listOptions() []query.Option {
	if r.Found == nil {
		return nil
	}
	return []query.Option{query.WithLists(r.Found)}
}

// listsMeta describes the lists of values of a request, each once, by name.
func (r Request) listsMeta() []answer.ListMeta {
	var all []answer.ListMeta
	for _, name := range slices.Sorted(maps.Keys(r.Found)) {
		list := r.Found[name]
		one := answer.ListMeta{List: list.Name, Version: list.Version, NumOfValues: len(list.Values.Values)}
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all
}
