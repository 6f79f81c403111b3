package answering

import (
	"context"
	"errors"
	"net/http"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/parameter"
	"github.com/orrery/orrery/shared/api/problem"
	"github.com/orrery/orrery/shared/api/representation"
	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/search"
)

// Finding is the answer while some of several questions are not answered yet.
type Finding struct {
	Status string `json:"status" enum:"running"`
}

var finding = route.Response{
	Status: http.StatusAccepted, Value: Finding{},
	Doc: "With `Prefer: respond-async`: some questions are not answered yet. The same request later has their answers.",
}

// conclusion is what several questions together answer.
type conclusion[Result any] struct {
	estimate func(ctx context.Context, ask Ask) (search.Meta, error)
	find     func(ctx context.Context, ask Ask, within *allowance) ([]Result, search.Meta, error)
	// fitting returns the newest part of the period for which the estimate is at most so many bytes, or nil if none was
	// found. It is nil if the request has no such part.
	fitting func(ctx context.Context, ask Ask, most int64) (*search.MetaPeriod, error)
}

// answerTogether answers with what several questions conclude, or with their estimate. Queries that take longer than a
// request has go on, and a repeated request joins them.
func answerTogether[Result any](s *server, c *route.Call, args parameter.Arguments, of conclusion[Result]) error {
	c.Filters = args[parameter.Filters.Name]
	as, err := representation.Offers(c.Route.Offers).Choose(c.Request.Header.Values("Accept"), args)
	if err != nil {
		return err
	}
	dry, err := search.DryRun(args[dryRunName])
	switch {
	case err != nil:
		return err
	case dry && as.MediaType != content.JSON:
		return errDryRun
	}
	most, err := search.MaxBytes(args[search.MaxBytesParam])
	if err != nil {
		return err
	}
	if dry {
		meta, err := of.estimate(search.PinLists(c.Request.Context()), s.asker(c))
		if err != nil {
			return stillRunning(c, err, "")
		}
		c.Send(route.Answer{Status: http.StatusOK, ContentType: content.JSON, Body: jsonOf([]struct{}{}, meta, nil)})
		return nil
	}
	var results []Result
	var meta search.Meta
	err = s.inTime(c, func(ctx context.Context, ask Ask) (err error) {
		within := allow(most, of)
		results, meta, err = of.find(search.PinLists(ctx), within.asking(ask), within)
		return err
	})
	switch {
	case errors.Is(err, problem.ErrGoesOn) && prefersAsync(c.Request.Header.Values("Prefer")):
		c.Writer.Header().Set("Preference-Applied", respondAsync)
		c.Writer.Header().Set("Retry-After", wholeSeconds(problem.ErrGoesOn.RetryAfter))
		c.SendJSON(http.StatusAccepted, Finding{Status: "running"})
		return nil
	case err != nil:
		return stillRunning(c, err, "")
	}
	c.Fingerprint, c.Scanned = meta.Fingerprint, meta.BytesScanned
	return sendResults(c, search.Route(c.Route.OfGet()), results, meta, as)
}
