package api

import (
	"log/slog"
	"net/http"
)

// fail sends an error response and logs the cause of a 5xx.
func (s *server) fail(c *call, err error) {
	e := problemOf(err, errorRequest{ID: c.id, Place: place(c.r), Filters: c.filters, Gone: c.gone(), Failed: c.failed})
	if e.Code >= 500 {
		if c.abandoned = c.gone(); !c.abandoned {
			s.Log.LogAttrs(c.r.Context(), e.Level(), e.Event(), slog.String("request_id", c.id),
				slog.String("route", routeID(c)), slog.String("error", err.Error()))
		}
	}
	if c.w.status != 0 {
		return // the response has begun; the client sees from its length that it is incomplete
	}
	e.SetHeaders(c.w.Header())
	body, contentType := e.Text(), textType
	if c.accepted([]string{jsonType, textType}) != textType {
		body, contentType = encode(e), jsonType
	}
	c.send(answer{status: e.Code, contentType: contentType, body: body})
}

// place returns the location of the parameters: "query", or "body" of a POST.
func place(r *http.Request) string {
	if r.Method == http.MethodPost {
		return "body"
	}
	return "query"
}
