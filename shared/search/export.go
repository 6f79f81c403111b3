package search

import (
	"context"
	"fmt"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/query"
)

// ErrNoExport reports that the engine answers page by page only.
var ErrNoExport = fault.New(fault.Internal, "the engine has no export")

// Export passes all records of a request for logs to visit, in parts that are like the pages of Search: each has the
// meta of a page, whose Next continues after the part. The limit of the request counts for nothing. The last part has
// no records; only its meta has the number of late records. An error of visit ends the export, which returns it
// unchanged.
//
// Export is for one caller, who waits as long as it takes: no limit of queries or of time holds. It returns ErrNoExport
// and the errors of Search.
func (s *Service) Export(ctx context.Context, r Request, visit func(part Result) error) error {
	exporter, ok := s.engine.(engine.Exporter)
	if !ok {
		return ErrNoExport
	}
	began := s.now()
	r, q, err := s.bind(ctx, s.at(r, began))
	if err != nil {
		return err
	}
	data, err := s.freshness(ctx)
	if err != nil {
		return queryError(r, q, err)
	}
	if r.MaxBytes != "" {
		if _, _, err := s.estimateWithin(ctx, r, q, false); err != nil {
			return queryError(r, q, err)
		}
	}
	extent, err := s.engine.Extent(ctx)
	if err != nil {
		return queryError(r, q, fmt.Errorf("read the extent of the data: %w", err))
	}
	shape := q.Shape.(query.Logs)
	var ofVisit error
	err = exporter.Export(ctx, q.Clamp(extent), func(part engine.ExportPart) error {
		shape.Limit = len(part.Rows)
		q.Shape = shape
		result := resultOf(r, q, query.Answer{Logs: part.Rows, Truncated: !part.Last}, s.metaOf(r, q, part.Cost, data, nil))
		if part.Last {
			if _, err := s.addArrivals(ctx, r, q, data, &result); err != nil {
				return err
			}
		}
		result.Meta.ElapsedMS = milliseconds(s.now().Sub(began))
		if next := *result.Meta.Next; next != nil {
			r.Cursor = *next
		}
		ofVisit = visit(result)
		return ofVisit
	})
	if err != nil && ofVisit == nil {
		return queryError(r, q, err)
	}
	return err
}
