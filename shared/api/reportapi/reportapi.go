// Package reportapi makes the reports of the HTTP API.
package reportapi

import (
	"context"
	"errors"
	"fmt"

	"github.com/orrery/orrery/shared/api/answering"
	"github.com/orrery/orrery/shared/report"
	"github.com/orrery/orrery/shared/report/asking"
	"github.com/orrery/orrery/shared/report/mail"
	"github.com/orrery/orrery/shared/search"
)

// Maker makes reports: answering.Reports.
type Maker struct {
	// Sender is the sender of reports that are mails.
	Sender string
	// AtOnce is how many questions of a report are asked at the same time; 0: all.
	AtOnce int
}

var _ answering.Reports = Maker{}

// Make implements answering.Reports.
func (m Maker) Make(ctx context.Context, ask answering.Ask, r answering.ReportRequest) ([]byte, error) {
	model, err := asking.Run(ctx, ask, m.requestOf(r))
	if err != nil {
		return nil, errorOf(err)
	}
	switch r.MediaType {
	case "text/html":
		return model.HTML(), nil
	case "text/plain":
		return model.Text(), nil
	case "text/csv":
		return model.CSV(), nil
	case "application/json":
		return model.JSON(), nil
	case "message/rfc822":
		return mail.Write(model, mail.Envelope{From: m.Sender, Date: model.End()})
	}
	return nil, fmt.Errorf("reportapi: no form of reports is %s", r.MediaType)
}

// requestOf returns the request of the API as a request for a report.
func (m Maker) requestOf(r answering.ReportRequest) asking.Request {
	return asking.Request{
		Filters: r.Filters, Syntax: r.Form, Template: report.Template(r.Template), Compare: r.Compare, Zone: r.Zone,
		Title: r.Title, Link: r.Link, Server: r.Server, Now: r.Now, AtOnce: m.AtOnce,
	}
}

// errorOf returns an error as the API reports it.
func errorOf(err error) error {
	var wrong *asking.ParamError
	if errors.As(err, &wrong) {
		return &search.ParamError{Param: wrong.Param, Message: wrong.Message}
	}
	return err
}

// Policy implements answering.Reports.
func (Maker) Policy() string { return report.PagePolicy }

// Document implements answering.Reports.
func (Maker) Document() any { return report.Document{} }
