package search_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
)

// changingLists has a list that gets a new version with each time that its newest one is found.
type changingLists struct {
	mu     sync.Mutex
	newest int
}

func (c *changingLists) Find(_ context.Context, name string, _ []string) (query.List, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	name, text, named := strings.Cut(name, ":")
	if !named {
		c.newest++
		text = strconv.Itoa(c.newest)
	}
	version, err := strconv.Atoi(text)
	return query.List{Name: name, Version: version, Values: query.NewListValues(text, []string{"192.0.2.1"})}, err
}

// TestPinLists: requests whose lists are pinned together have the same version, also if they find it at the same time.
// Others have the newest one, and a version that a filter names stays.
func TestPinLists(t *testing.T) {
	s, lists := service(t, oracle{}), &changingLists{}
	s.UseLists(lists)
	versions := func(ctx context.Context, list string) (found []int) {
		var mu sync.Mutex
		var asked sync.WaitGroup
		for range 20 {
			asked.Go(func() {
				result, err := s.Search(ctx, search.Request{
					Route: search.Stats, Filters: "timestamp between 2026-01-01 and 2026-01-02, ip in " + list,
				})
				mu.Lock()
				defer mu.Unlock()
				if err != nil || len(result.Meta.Lists) != 1 {
					t.Errorf("%+v, %v", result.Meta.Lists, err)
					return
				}
				found = append(found, result.Meta.Lists[0].Version)
			})
		}
		asked.Wait()
		slices.Sort(found)
		return slices.Compact(found)
	}
	pinned := search.PinLists(t.Context())
	if first := versions(pinned, "@tor"); len(first) != 1 {
		t.Errorf("pinned requests have the versions %v", first)
	} else if again := versions(pinned, "@tor"); !slices.Equal(first, again) {
		t.Errorf("pinned requests have the versions %v, and later %v", first, again)
	}
	if named := versions(pinned, "@tor:7"); !slices.Equal(named, []int{7}) {
		t.Errorf("requests that name version 7 have the versions %v", named)
	}
	if others := versions(t.Context(), "@tor"); len(others) != 20 {
		t.Errorf("20 requests that are not pinned have the versions %v", others)
	}
}
