package destination

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// table is a table of the file that defines a destination.
type table struct {
	Folder                 string `toml:"folder" json:"folder"`
	Bucket                 string `toml:"bucket" json:"bucket"`
	Prefix                 string `toml:"prefix" json:"prefix"`
	Topic                  string `toml:"topic" json:"topic"`
	SlackURLFile           string `toml:"slack-url-file" json:"slack-url-file"`
	SlackParameter         string `toml:"slack-parameter" json:"slack-parameter"`
	WebhookURLFile         string `toml:"webhook-url-file" json:"webhook-url-file"`
	WebhookParameter       string `toml:"webhook-parameter" json:"webhook-parameter"`
	WebhookSecretFile      string `toml:"webhook-secret-file" json:"webhook-secret-file"`
	WebhookSecretParameter string `toml:"webhook-secret-parameter" json:"webhook-secret-parameter"`
}

var (
	destinationName = regexp.MustCompile(`\A[A-Za-z0-9_-]+\z`)
	bucketName      = regexp.MustCompile(`\A[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]\z`)
	// Permissions are granted for prefixes, so they have no wildcards.
	bucketPrefix  = regexp.MustCompile(`\A[A-Za-z0-9_.=-][A-Za-z0-9_.=/-]{0,499}\z`)
	topicARN      = regexp.MustCompile(`\Aarn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,256}\z`)
	parameterName = regexp.MustCompile(`\A/?[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*\z`)
)

// destination returns the destination that a table defines. A table must define exactly one.
func (t table) destination() (Destination, error) {
	var given []string
	kinds := []struct{ key, value string }{
		{"folder", t.Folder}, {"bucket", t.Bucket}, {"topic", t.Topic}, {"slack-url-file", t.SlackURLFile},
		{"slack-parameter", t.SlackParameter}, {"webhook-url-file", t.WebhookURLFile}, {"webhook-parameter", t.WebhookParameter},
	}
	for _, kind := range kinds {
		if kind.value != "" {
			given = append(given, kind.key)
		}
	}
	switch {
	case len(given) == 0:
		return nil, errors.New("needs folder, bucket, topic, slack-url-file, slack-parameter, webhook-url-file or webhook-parameter")
	case len(given) > 1:
		return nil, fmt.Errorf("has %s, but a destination is one of them; give the others names of their own",
			strings.Join(given, " and "))
	case t.Prefix != "" && t.Bucket == "":
		return nil, errors.New("prefix: it is of a bucket; remove it")
	}
	signing := Secret{t.WebhookSecretFile, t.WebhookSecretParameter}
	if signing != (Secret{}) && t.WebhookURLFile+t.WebhookParameter == "" {
		return nil, errors.New("webhook-secret-file and webhook-secret-parameter are of a webhook; remove them")
	}
	switch {
	case t.Folder != "":
		return Folder{t.Folder}, nil
	case t.Bucket != "":
		return bucket(t.Bucket, t.Prefix)
	case t.Topic != "":
		if !topicARN.MatchString(t.Topic) {
			return nil, fmt.Errorf("topic: %q is not the ARN of a standard topic, such as arn:aws:sns:eu-central-1:123456789012:reports",
				t.Topic)
		}
		return Topic{t.Topic}, nil
	case t.SlackURLFile+t.SlackParameter != "":
		url := Secret{t.SlackURLFile, t.SlackParameter}
		return Slack{url}, url.check("slack-parameter")
	}
	if t.WebhookSecretFile != "" && t.WebhookSecretParameter != "" {
		return nil, errors.New("has webhook-secret-file and webhook-secret-parameter; remove one of them")
	}
	url := Secret{t.WebhookURLFile, t.WebhookParameter}
	return Webhook{url, signing}, errors.Join(url.check("webhook-parameter"), signing.check("webhook-secret-parameter"))
}

func bucket(name, prefix string) (Destination, error) {
	if !bucketName.MatchString(name) {
		return nil, fmt.Errorf("bucket: %q is not the name of a bucket", name)
	}
	if prefix == "" {
		return Bucket{Name: name}, nil
	}
	if !bucketPrefix.MatchString(prefix) {
		return nil, fmt.Errorf("prefix: %q has other characters than letters, digits, and _ . = - /, or begins with a slash", prefix)
	}
	return Bucket{name, strings.TrimRight(prefix, "/") + "/"}, nil
}

// check returns an error if a parameter cannot have the name.
func (s Secret) check(key string) error {
	if s.Parameter != "" && (len(s.Parameter) > 1000 || !parameterName.MatchString(s.Parameter)) {
		return fmt.Errorf("%s: %q is not the name of a parameter, such as /orrery/slack", key, s.Parameter)
	}
	return nil
}
