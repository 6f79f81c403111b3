package api

import (
	"net/http"
	"slices"

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

// reportPostRoute returns the POST form of the route of reports.
func (s *server) reportPostRoute(get route) route {
	post := get
	post.id += "-post"
	post.method = http.MethodPost
	post.summary += " (parameters in the body)"
	post.doc = "The same as GET, with the parameters as members of a JSON object: for filters that are too long for a URL, " +
		"or that the logs of proxies shall not have."
	post.body = &requestBody{doc: "The parameters.", types: []string{jsonType}}
	post.errors = slices.Concat(bodyErrors, queryErrors)
	post.handle = s.reportPost
	return post
}

// reportPost answers with a report of which the parameters are in a JSON body.
func (s *server) reportPost(c *call) error {
	if _, err := readQuery(c.r.URL.RawQuery, nil); err != nil {
		return err
	}
	sent, err := c.body(maxFilterBody, jsonType)
	if err != nil {
		return err
	}
	args, err := readBody(sent.text, c.route.params)
	if err != nil {
		return err
	}
	return s.answerReport(c, args)
}

// reportRequest returns the request for a report in a media type.
func (s *server) reportRequest(c *call, args arguments, mediaType string) ReportRequest {
	r := ReportRequest{
		Filters: c.filters, Form: formOf(c.r.Header), MediaType: mediaType, Template: args["template"],
		Compare: args["compare"], Zone: args["tz"], Title: args["title"], Link: args["link"],
		Now: s.present(),
	}
	if r.Link == "" {
		r.Link = s.consoleOf(c.r)
	}
	return r
}

// estimateReport answers with what the questions of a report would read and cost.
func (s *server) estimateReport(c *call, args arguments) error {
	switch name := args[formatName]; {
	case name == "json":
	case name != "":
		return errDryForm
	case c.accepted([]string{jsonType}) == "":
		return errNotAcceptable([]string{jsonType})
	}
	meta, err := s.Reports.Estimate(c.r.Context(), s.asker(c), s.reportRequest(c, args, jsonType))
	if err != nil {
		return err
	}
	c.send(answer{status: http.StatusOK, contentType: jsonType, body: jsonOf([]struct{}{}, meta, nil)})
	return nil
}
