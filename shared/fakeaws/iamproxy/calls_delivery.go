package iamproxy

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/mail"
	"net/url"
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/permissions"
)

// callsOfDelivery returns the calls of an operation that delivers a report, or reads where to deliver it.
func (s Scope) callsOfDelivery(c Credential, operation string, in members, body []byte) ([]permissions.Call, error) {
	switch c.Service + " " + operation {
	case "ses SendRawEmail":
		return s.callsOfMail(c, body)
	case "sns Publish":
		form, err := url.ParseQuery(string(body))
		if err == nil && form.Get("TopicArn") == "" {
			err = fmt.Errorf("TopicArn is missing")
		}
		return []permissions.Call{{Action: "sns:Publish", Resource: form.Get("TopicArn")}}, err
	case "ssm GetParameter":
		name, err := in.required("Name")
		resource := s.arn(c, "parameter/"+strings.TrimPrefix(name, "/"))
		return []permissions.Call{{Action: "ssm:GetParameter", Resource: resource}}, err
	}
	return nil, fmt.Errorf("the operation is unknown")
}

// callsOfMail returns the calls of a mail. SES checks the identity that sends it, in the sandbox those of its
// receivers, too, and the configuration set, which is that of the identity unless the request names one. The request
// shows neither what is verified nor whether there is such a set, so the calls are those of an account in the sandbox
// in which addresses are verified, and the identity of the sender has a set.
//
// See https://docs.aws.amazon.com/ses/latest/dg/control-user-access.html and
// https://docs.aws.amazon.com/ses/latest/dg/managing-configuration-sets.html#default-config-sets.
func (s Scope) callsOfMail(c Credential, body []byte) ([]permissions.Call, error) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, err
	}
	text, err := base64.StdEncoding.DecodeString(form.Get("RawMessage.Data"))
	if err != nil {
		return nil, err
	}
	m, err := mail.ReadMessage(strings.NewReader(string(text)))
	if err != nil {
		return nil, err
	}
	senders, err := addressesOf(m.Header.Get("From"), form.Get("Source"))
	if err == nil && len(senders) == 0 {
		err = fmt.Errorf("the sender is missing")
	}
	if err != nil {
		return nil, err
	}
	var receivers []string
	for i := 1; form.Has(fmt.Sprintf("Destinations.member.%d", i)); i++ {
		receivers = append(receivers, form.Get(fmt.Sprintf("Destinations.member.%d", i)))
	}
	if receivers == nil {
		receivers, err = addressesOf(m.Header.Get("To"), m.Header.Get("Cc"), m.Header.Get("Bcc"))
		if err != nil {
			return nil, err
		}
	}
	var calls []permissions.Call
	for _, sender := range senders {
		keys := map[string][]string{permissions.FromAddress: {sender}, permissions.Recipients: receivers}
		on := func(resource string) {
			calls = append(
				calls, permissions.Call{Action: "ses:SendRawEmail", Resource: s.arn(c, resource), Keys: keys},
			)
		}
		on("identity/" + sender)
		for _, receiver := range receivers {
			on("identity/" + receiver)
		}
		on("configuration-set/" + cmp.Or(form.Get("ConfigurationSetName"), "set-of-the-identity"))
	}
	return calls, nil
}

// addressesOf returns the addresses in lists of addresses, each once.
func addressesOf(lists ...string) (all []string, err error) {
	for _, list := range lists {
		if list == "" {
			continue
		}
		found, err := mail.ParseAddressList(list)
		if err != nil {
			return nil, fmt.Errorf("the addresses %q: %w", list, err)
		}
		for _, one := range found {
			if !slices.Contains(all, one.Address) {
				all = append(all, one.Address)
			}
		}
	}
	return all, nil
}
