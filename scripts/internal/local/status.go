package local

import (
	"context"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/status"
)

var _ status.Source = (*Product)(nil)

// Status describes the product: its data directory, or what a cluster reports.
func (p *Product) Status(ctx context.Context) (found status.Status, err error) {
	if p.Store != nil {
		found, err = p.Store.Status(ctx)
	} else {
		found, err = ofCluster(ctx, p.Engine)
	}
	_, found.Values = p.Engine.(engine.ValueFinder)
	found.Engine, found.Wait = p.Engine.Name(), queryTimeout
	return found, err
}

// ofCluster returns what a cluster knows: the period of the records, which it is asked for at most every ten seconds. It
// does not know their number, because it asks about the newest hours only, nor the objects that hold them.
func ofCluster(ctx context.Context, e engine.Engine) (found status.Status, err error) {
	if found.Extent, err = e.Extent(ctx); err != nil {
		return status.Status{}, err
	}
	if known, ok := e.(engine.Completeness); ok {
		found.Complete, err = known.CompleteThrough(ctx)
	}
	return found, err
}
