package answering

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/parameter"
	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
)

// parse converts a filter to its canonical JSON form or, if text/plain is accepted, to its canonical query string.
func (s *server) parse(c *route.Call) error {
	if _, err := parameter.ReadQuery(c.Request.URL.RawQuery, nil); err != nil {
		return err
	}
	return c.Parse(parameter.MaxBody, c.Route.Body.Types, func(sent parameter.Body) error { return s.convert(c, sent) })
}

// convert answers with the canonical form of the filter in a body.
func (s *server) convert(c *route.Call, sent parameter.Body) error {
	args, err := parameter.FilterOf(sent, c.Route.Params)
	if err != nil {
		return err
	}
	c.Filters = args[parameter.Filters.Name]
	clock, err := search.ClockOf(s.present(), args[parameter.DayZone.Name])
	if err != nil {
		return err
	}
	q, err := query.Bind(parameter.ParseFilter(c.Filters, c.Request.Header), query.Logs{}, query.WithClock(clock))
	if err != nil {
		return err
	}
	c.Fingerprint = q.Fingerprint()
	if q.Relative != nil {
		c.Writer.Header().Set(relativeHeader, relativeTimes(q.Relative))
	}
	if c.Accepts == content.Text {
		c.Send(route.Answer{Status: http.StatusOK, ContentType: content.Text, Body: []byte(filter.Format(q.Filter) + "\n")})
		return nil
	}
	c.Send(route.Answer{Status: http.StatusOK, ContentType: content.JSON, Body: []byte(filter.FormatJSON(q.Filter))})
	return nil
}

// relativeHeader shows the relative times of a filter beside the times that they stand for. The canonical filter has
// only the latter.
const relativeHeader = "X-Orrery-Relative-Times"

// maxRelativeTimes is the largest number of relative times in the header. Each has at most about 50 bytes.
const maxRelativeTimes = 20

func relativeTimes(all []query.RelativeTime) string {
	texts := make([]string, 0, maxRelativeTimes+1)
	for _, r := range all[:min(len(all), maxRelativeTimes)] {
		at := time.UnixMilli(r.Ms).UTC().Format("2006-01-02T15:04:05.999Z07:00")
		texts = append(texts, r.Text+"="+at)
	}
	if more := len(all) - len(texts); more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, ", ")
}

// Fields is the catalogue of fields.
type Fields struct {
	Data Results[catalog.Description] `json:"data"`
}

// fields serves the catalogue.
func (s *server) fields(c *route.Call) error {
	if _, err := parameter.ReadQuery(c.Request.URL.RawQuery, nil); err != nil {
		return err
	}
	var v Fields
	v.Data.Results = catalog.Describe()
	c.SendJSON(http.StatusOK, v)
	return nil
}
