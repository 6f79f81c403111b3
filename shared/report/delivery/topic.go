package delivery

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/report/destination"
	"github.com/orrery/orrery/shared/report/runs"
	"github.com/orrery/orrery/shared/zone"
)

// SNS refuses messages of more than 256 KB with their attributes, and subjects of 100 characters.
const (
	topicLength   = 250_000 // bytes
	subjectLength = 99
)

// publish publishes the report as the text of a mail: a topic may have subscriptions by mail, and mail programs make links
// of addresses and names in other texts.
func (s Sender) publish(ctx context.Context, to destination.Topic, files []runs.File) error {
	if s.AWS == nil {
		return errNoAWS
	}
	d, err := documentOf(files)
	if err != nil {
		return err
	}
	location, err := zone.Load(d.Report.Zone)
	if err != nil {
		return fmt.Errorf("%w: read the report: %w", ErrRefused, err)
	}
	return s.AWS.Publish(ctx, to, topicMessage(message{string(d.In(location).MailText()), d}))
}

// topicMessage returns the message about a report. Subscribers can filter by the attributes.
func topicMessage(m message) Message {
	run, verdict := m.document.Run.Scheduled, string(m.document.Report.Verdict.State)
	subject := fmt.Sprintf("Orrery: %s (%s/%s)", verdict, run.Config, run.Report)
	if len(subject) > subjectLength {
		subject = subject[:subjectLength]
	}
	text := strings.ToValidUTF8(m.text, "\uFFFD")
	if len(text) > topicLength {
		end := topicLength
		for !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end] + "\nThe report is longer than a message can be.\n"
	}
	attributes := map[string]string{}
	for name, value := range map[string]string{
		"run": run.ID, "config": run.Config, "report": run.Report, "verdict": verdict,
	} {
		if value != "" { // SNS refuses empty ones
			attributes[name] = value
		}
	}
	return Message{Subject: subject, Text: text, Attributes: attributes}
}
