package local

import "github.com/orrery/orrery/shared/search/pending"

// Limiter limits the queries that run at the same time.
func (p *Product) Limiter() *pending.Limiter { return p.limiter }
