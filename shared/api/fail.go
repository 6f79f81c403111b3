package api

import (
	"net/http"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/problem"
	"github.com/orrery/orrery/shared/api/route"
)

// fail sends an error response and logs the cause of a 5xx.
func (s *server) fail(c *route.Call, err error) {
	e := problem.Of(err, problem.Request{ID: c.ID, Place: place(c.Request), Filters: c.Filters, Gone: c.Gone(), Failed: c.Failed})
	if e.Code >= 500 {
		if c.Abandoned = c.Gone(); !c.Abandoned {
			e.Log(c.Request.Context(), s.Log, routeID(c))
		}
	}
	if c.Writer.Status != 0 {
		return // the response has begun; the client sees from its length that it is incomplete
	}
	e.SetHeaders(c.Writer.Header())
	body, contentType := e.Text(), content.Text
	if c.Accepted(content.Offers) != content.Text {
		body, contentType = content.Encode(e), content.JSON
	}
	c.Send(route.Answer{Status: e.Code, ContentType: contentType, Body: body})
}

// place returns the location of the parameters: "query", or "body" of a POST.
func place(r *http.Request) string {
	if r.Method == http.MethodPost {
		return "body"
	}
	return "query"
}
