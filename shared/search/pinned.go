package search

import (
	"context"
	"sync"
)

// PinLists returns a context in which all requests have the same versions of lists of values: for each list that is named
// without a version, the one that the first of them has found. Answers that need several questions use it.
func PinLists(ctx context.Context) context.Context {
	return context.WithValue(ctx, pinKey{}, &pinnedLists{versions: map[string]string{}})
}

type pinKey struct{}

// pinnedLists is the versions of lists by the names as filters write them.
type pinnedLists struct {
	mu       sync.Mutex
	versions map[string]string
}

// pinnedIn returns the lists that are pinned in a context, or nil.
func pinnedIn(ctx context.Context) *pinnedLists {
	pinned, _ := ctx.Value(pinKey{}).(*pinnedLists)
	return pinned
}

// version returns the name of the version that is pinned, or the name itself.
func (p *pinnedLists) version(name string) string {
	if p == nil {
		return name
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if version, pinned := p.versions[name]; pinned {
		return version
	}
	return name
}

// pin pins a version unless one is pinned. It returns the version that is pinned.
func (p *pinnedLists) pin(name, version string) string {
	if p == nil {
		return version
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if pinned, is := p.versions[name]; is {
		return pinned
	}
	p.versions[name] = version
	return version
}
