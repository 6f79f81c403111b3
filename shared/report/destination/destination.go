// Package destination reads where the operator allows scheduled reports to be sent: on one machine from orrery.toml of
// the data folder and from the environment, on AWS from one variable of the environment.
package destination

import (
	"cmp"
	"maps"
	"net/mail"
	"slices"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/report/definition"
)

// Settings are the settings of scheduled reports.
type Settings struct {
	Mail         *Mail                  // nil: no mail is sent
	Destinations map[string]Destination // by their names
	Link         string                 // base URL of console and API, for links and commands; "": there are no links
	Delay        time.Duration          // after the end of a period until its data is there
}

// DefaultDelay is the default of Settings.Delay.
const DefaultDelay = time.Hour

// Destination is a place that reports are sent to: a Folder, Bucket, Topic, Slack or Webhook.
type Destination interface {
	destination()
	// String describes the destination for the operator. It has no secrets.
	String() string
}

// Folder is a folder of this machine.
type Folder struct{ Path string }

// Bucket is a part of a bucket of Amazon S3.
type Bucket struct {
	Name   string
	Prefix string // of the names of objects: "" or with a slash at its end
}

// Topic is a topic of Amazon SNS.
type Topic struct{ ARN string }

// Slack is a channel of Slack, or of a chat that takes the same messages.
type Slack struct{ URL Secret }

// Webhook is a server that takes reports in JSON.
type Webhook struct {
	URL     Secret
	Signing Secret // with which reports are signed; the zero value: they are not
}

func (Folder) destination()  {}
func (Bucket) destination()  {}
func (Topic) destination()   {}
func (Slack) destination()   {}
func (Webhook) destination() {}

func (f Folder) String() string { return "the folder " + f.Path }

func (b Bucket) String() string { return "s3://" + b.Name + "/" + b.Prefix }

func (t Topic) String() string { return "the topic " + t.ARN }

func (s Slack) String() string { return "Slack, at the URL in " + s.URL.String() }

func (w Webhook) String() string {
	text := "the webhook with the URL in " + w.URL.String()
	if w.Signing != (Secret{}) {
		text += ", signed"
	}
	return text
}

// Rules returns the rules for definitions.
func (s Settings) Rules() definition.Rules {
	r := definition.Rules{Destinations: slices.Sorted(maps.Keys(s.Destinations))}
	if s.Mail != nil {
		r.Domains, r.ASCII = s.Mail.Domains, s.Mail.SES
	}
	return r
}

// Needs are the resources that the settings need permission for on AWS. The lists are sorted.
type Needs struct {
	Buckets    []Bucket   // to put objects that begin with the prefixes
	Topics     []string   // ARNs of topics to publish to
	Parameters []string   // names of parameters to read and to decrypt, with a slash at the beginning
	Mail       *MailNeeds // nil: SES sends no mail
}

// MailNeeds are the names that SES checks when it sends mail.
type MailNeeds struct {
	Senders          []string // the address of the sender: as it is written, and with its domain in lower case
	Domains          []string // of the receivers
	ConfigurationSet string   // "": the one of the sending identity, if it has one
}

// Needs returns the resources that the settings need permission for on AWS.
func (s Settings) Needs() Needs {
	var n Needs
	for _, to := range s.Destinations {
		switch to := to.(type) {
		case Bucket:
			n.Buckets = append(n.Buckets, to)
		case Topic:
			n.Topics = append(n.Topics, to.ARN)
		case Slack:
			n.parameter(to.URL)
		case Webhook:
			n.parameter(to.URL)
			n.parameter(to.Signing)
		}
	}
	if s.Mail != nil && s.Mail.SES {
		if from, err := mail.ParseAddress(s.Mail.From); err == nil {
			senders := slices.Compact([]string{from.Address, definition.LowerDomain(from.Address)})
			n.Mail = &MailNeeds{senders, s.Mail.Domains, s.Mail.ConfigurationSet}
		}
	}
	slices.SortFunc(n.Buckets, func(a, b Bucket) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Prefix, b.Prefix))
	})
	slices.Sort(n.Topics)
	slices.Sort(n.Parameters)
	n.Buckets, n.Topics, n.Parameters = slices.Compact(n.Buckets), slices.Compact(n.Topics), slices.Compact(n.Parameters)
	return n
}

func (n *Needs) parameter(s Secret) {
	if s.Parameter != "" {
		n.Parameters = append(n.Parameters, "/"+strings.TrimPrefix(s.Parameter, "/"))
	}
}

// None reports whether nothing of AWS is needed.
func (n Needs) None() bool {
	return len(n.Buckets)+len(n.Topics)+len(n.Parameters) == 0 && n.Mail == nil
}
