package local

import (
	"context"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/status"
)

var _ status.Source = (*Product)(nil)

// Status describes the product: its data directory, with the records of the demo if queries are answered from it,
// or what a cluster reports.
func (p *Product) Status(ctx context.Context) (found status.Status, err error) {
	if p.Store != nil {
		found, err = p.ofFolder(ctx)
	} else {
		found, err = ofCluster(ctx, p.Engine)
	}
	_, found.Values = p.Engine.(engine.ValueFinder)
	found.Engine, found.Wait = p.Engine.Name(), queryTimeout
	return found, err
}

// ofFolder returns what the data directory knows. The records may come from the demo; the imports never do.
func (p *Product) ofFolder(ctx context.Context) (found status.Status, err error) {
	answering, isDemo, err := p.demo.choose(ctx)
	if err != nil {
		return status.Status{}, err
	}
	if found, err = p.Store.Status(ctx); err != nil || !isDemo {
		return found, err
	}
	demo, err := answering.store.Status(ctx)
	demo.Demo, demo.Ingest, demo.Complete = true, found.Ingest, found.Complete
	return demo, err
}

// ofCluster returns what a cluster knows: the period of the records, which it is asked for at most every ten seconds.
// It does not know their number, because it asks about the newest hours only, nor the objects that hold them.
func ofCluster(ctx context.Context, e engine.Engine) (found status.Status, err error) {
	if found.Extent, err = e.Extent(ctx); err != nil {
		return status.Status{}, err
	}
	if known, ok := e.(engine.Completeness); ok {
		found.Complete, err = known.CompleteThrough(ctx)
	}
	return found, err
}
