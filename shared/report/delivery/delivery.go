// Package delivery hands reports over: to a mail server, a folder, a chat or a webhook, and through an AWS to its
// services.
package delivery

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path"
	"slices"

	"github.com/orrery/orrery/shared/report"
	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/destination"
	"github.com/orrery/orrery/shared/report/runs"
)

// ErrRefused is the error of a delivery that will not succeed later either.
var ErrRefused = errors.New("refused")

// MailName is the name of the file that is a whole mail.
const MailName = "mail.eml"

// Sender delivers reports to the destinations of the operator.
type Sender struct {
	Settings destination.Settings
	TLS      *tls.Config // for mail servers and webhooks; nil: the system's certificates
	AWS      AWS         // nil: this program cannot use AWS

	local    func(net.Addr) bool   // whether a mail server is on this machine; nil: if its address is a loopback address
	public   func(netip.Addr) bool // whether webhooks may have an address; nil: publicnet.IsPublic
	resolver *net.Resolver         // of the hosts of webhooks; nil: the system's
}

// AWS hands reports over to services of AWS, and reads secrets: deliveryaws.Services.
type AWS interface {
	// SendMail hands a mail over to SES.
	SendMail(ctx context.Context, m destination.Mail, to []string, message []byte) error
	// Put writes files to a bucket. Files that are there are replaced.
	Put(ctx context.Context, to destination.Bucket, files []runs.File) error
	// Publish publishes a message.
	Publish(ctx context.Context, to destination.Topic, m Message) error
	// Parameter returns the value of a parameter, which may be some minutes old, unless it must be fresh.
	Parameter(ctx context.Context, name string, fresh bool) (string, error)
}

// Message is a report as a message of a topic.
type Message struct {
	Subject    string // ASCII, less than 100 characters
	Text       string
	Attributes map[string]string
}

// Deliver delivers the files of a report. After nil, the destination has it; the note says who refused it. After another
// error than ErrRefused, the delivery can be tried again. Deliver returns soon after ctx has ended.
func (s Sender) Deliver(ctx context.Context, to definition.Destination, files []runs.File) (note string, err error) {
	if to.To == "" {
		return s.mail(ctx, to.Mail, files)
	}
	target, known := s.Settings.Destinations[to.To]
	if !known {
		return "", fmt.Errorf("%w: the operator has removed the destination %q", ErrRefused, to.To)
	}
	switch target := target.(type) {
	case destination.Folder:
		return "", deliverFolder(ctx, target.Path, files)
	case destination.Bucket:
		if s.AWS == nil {
			return "", errNoAWS
		}
		return "", s.AWS.Put(ctx, target, files)
	case destination.Topic:
		return "", s.publish(ctx, target, files)
	case destination.Slack:
		return "", s.slack(ctx, target, files)
	case destination.Webhook:
		return "", s.webhook(ctx, target, files)
	default:
		panic(fmt.Sprintf("delivery: no delivery to %T", target))
	}
}

// errNoAWS is not final, because another program may deliver the report.
var errNoAWS = errors.New("this program cannot use AWS")

// mail hands over the mail that is among the files. The delivery is refused if the operator does not allow mail to one
// of the addresses.
func (s Sender) mail(ctx context.Context, to []string, files []runs.File) (note string, err error) {
	if s.Settings.Mail == nil {
		return "", errors.New("mail is not set up")
	}
	allowed := make([]string, len(to))
	for i, address := range to {
		if _, ok := definition.DomainOf(address, s.Settings.Mail.Domains); !ok {
			return "", fmt.Errorf("%w: the operator does not allow mail to %s any more", ErrRefused, address)
		}
		allowed[i] = definition.LowerDomain(address)
	}
	i := slices.IndexFunc(files, func(f runs.File) bool { return f.Name == MailName })
	if i < 0 {
		return "", fmt.Errorf("%w: the report has no mail", ErrRefused)
	}
	message, err := allowedOnly(files[i].Content, s.Settings.Mail.Domains)
	switch {
	case err != nil:
		return "", err
	case !s.Settings.Mail.SES:
		return s.sendMail(ctx, allowed, message)
	case s.AWS == nil:
		return "", errNoAWS
	}
	return "", s.AWS.SendMail(ctx, *s.Settings.Mail, allowed, message)
}

// form returns the file with one of the forms of a report, such as .json.
func form(files []runs.File, extension string) ([]byte, error) {
	for _, f := range files {
		if path.Ext(f.Name) == extension {
			return f.Content, nil
		}
	}
	return nil, fmt.Errorf("%w: the report has no file %s", ErrRefused, extension)
}

// message is what the messages about a report need of it.
type message struct {
	text     string
	document report.Document
}

func messageOf(files []runs.File) (m message, err error) {
	text, err := form(files, ".txt")
	if err != nil {
		return m, err
	}
	m.text = string(text)
	m.document, err = documentOf(files)
	return m, err
}

// documentOf returns the report in JSON. Its run has the ID and the name.
func documentOf(files []runs.File) (d report.Document, err error) {
	content, err := form(files, ".json")
	if err != nil {
		return d, err
	}
	if err := json.Unmarshal(content, &d); err != nil {
		return d, fmt.Errorf("%w: read the report: %w", ErrRefused, err)
	}
	if d.Run.Scheduled == nil {
		d.Run.Scheduled = &report.Scheduled{}
	}
	return d, nil
}
