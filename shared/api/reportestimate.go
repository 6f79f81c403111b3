package api

import (
	"net/http"

	"github.com/orrery/orrery/shared/search"
)

// Estimated is the answer of a dry run of a report.
type Estimated struct {
	Data NoResults   `json:"data"`
	Meta search.Meta `json:"meta"`
}

// NoResults is the empty list of results.
type NoResults struct {
	Results []struct{} `json:"results" maxItems:"0"`
}

// estimateReport answers with what the questions of a report would read and cost.
func (s *dataServer) estimateReport(c *call, args arguments) error {
	switch name := args[formatName]; {
	case name == "json":
	case name != "":
		return errDryForm
	case c.accepted([]string{jsonType}) == "":
		return errNotAcceptable([]string{jsonType})
	}
	meta, err := s.Reports.Estimate(c.r.Context(), s.asker(c), s.reportRequest(c, args, jsonType))
	if err != nil {
		return stillRunning(c, err, "")
	}
	c.send(answer{status: http.StatusOK, contentType: jsonType, body: jsonOf([]struct{}{}, meta, nil)})
	return nil
}
