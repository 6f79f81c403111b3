package worker

import (
	"github.com/orrery/orrery/shared/report"
	"github.com/orrery/orrery/shared/report/mail"
	"github.com/orrery/orrery/shared/report/runs"
)

// scheduledBy returns what the report of a run has about it.
func scheduledBy(run runs.Run) *report.Scheduled {
	return &report.Scheduled{ID: run.ID, Config: run.Config, Report: run.Report}
}

// envelope returns the envelope of the mails of a run, without receivers. Their date is the time at which they are
// made, so that a report that is made up long after it was due is not sorted among old mails.
func (r *Runner) envelope(run runs.Run) mail.Envelope {
	if r.Settings.Mail == nil {
		return mail.Envelope{}
	}
	from := r.Settings.Mail.From
	return mail.Envelope{
		From: from, Date: r.Now().UTC(), Run: run.ID,
		Unsubscribe: mail.Unsubscribe(r.Settings.Link, from, run.Config, run.Report),
	}
}
