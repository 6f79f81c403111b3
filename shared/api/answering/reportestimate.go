package answering

import (
	"net/http"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/parameter"
	"github.com/orrery/orrery/shared/api/problem"
	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/search"
)

// Estimated is the answer of a dry run of a report, of incidents or of an effect.
type Estimated struct {
	Data NoResults   `json:"data"`
	Meta search.Meta `json:"meta"`
}

// NoResults is the empty list of results.
type NoResults struct {
	Results []struct{} `json:"results" maxItems:"0"`
}

// estimateReport answers with what the questions of a report would read and cost.
func (s *server) estimateReport(c *route.Call, args parameter.Arguments) error {
	switch name := args[parameter.FormatName]; {
	case name == "json":
	case name != "":
		return errDryRun
	case c.Accepted([]string{content.JSON}) == "":
		return problem.NotAcceptable([]string{content.JSON})
	}
	meta, err := s.Reports.Estimate(c.Request.Context(), s.asker(c), s.reportRequest(c, args, content.JSON))
	if err != nil {
		return stillRunning(c, err, "")
	}
	c.Send(route.Answer{Status: http.StatusOK, ContentType: content.JSON, Body: jsonOf([]struct{}{}, meta, nil)})
	return nil
}
