package duckdb

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/sqlgen"
)

func (e *Engine) timeline(ctx context.Context, script sqlgen.Script) ([]query.TimelineRow, error) {
	var all []query.TimelineRow
	err := e.each(ctx, script.Statements[0].SQL, func(rows *sql.Rows) error {
		var r query.TimelineRow
		err := rows.Scan(&r.Segment, &r.Requests, &r.Blocked, &r.Challenges, &r.Human, &r.OriginBlocked,
			&r.IPs, &r.Sessions, &r.BytesSent)
		all = append(all, r)
		return err
	})
	if err != nil {
		return nil, err
	}
	statuses, err := e.statuses(ctx, script.Statements[1].SQL)
	if err != nil {
		return nil, err
	}
	for i := range all {
		counts := statuses[all[i].Segment]
		all[i].Statuses = query.SortedStatuses(counts.service)
		all[i].OriginStatuses = query.SortedStatuses(counts.origin)
	}
	return all, nil
}

// statuses reads counts per segment, status and list of origin statuses, and adds them up for each segment.
func (e *Engine) statuses(ctx context.Context, statement string) (map[int64]segmentStatuses, error) {
	segments := map[int64]segmentStatuses{}
	err := e.each(ctx, statement, func(rows *sql.Rows) error {
		var (
			segment, requests int64
			status            sql.NullInt64
			origin            any
		)
		if err := rows.Scan(&segment, &status, &origin, &requests); err != nil {
			return err
		}
		s, ok := segments[segment]
		if !ok {
			s = segmentStatuses{service: map[int64]int64{}, origin: map[int64]int64{}}
			segments[segment] = s
		}
		if status.Valid {
			s.service[status.Int64] += requests
		}
		list, _ := origin.([]any)
		for _, one := range list {
			n, ok := one.(int64)
			if !ok {
				return fmt.Errorf("origin status is a %T", one)
			}
			s.origin[n] += requests
		}
		return nil
	})
	return segments, err
}

// segmentStatuses counts the responses of a segment by status.
type segmentStatuses struct{ service, origin map[int64]int64 }
