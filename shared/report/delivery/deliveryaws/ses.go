package deliveryaws

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/mail"
	"net/url"

	"github.com/orrery/orrery/shared/awscall"
	"github.com/orrery/orrery/shared/report/destination"
)

// SendMail hands a mail over to SES. SES takes it for all receivers or for none of them: addresses that do not exist
// bounce later.
func (s *Services) SendMail(ctx context.Context, m destination.Mail, to []string, message []byte) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	from, err := mail.ParseAddress(m.From)
	if err != nil {
		return fmt.Errorf("the sender %q: %w", m.From, err)
	}
	c, err := s.load(ctx)
	if err != nil {
		return err
	}
	in := url.Values{"Source": {from.Address}, "RawMessage.Data": {base64.StdEncoding.EncodeToString(message)}}
	for i, address := range to {
		in.Set(fmt.Sprintf("Destinations.member.%d", i+1), address)
	}
	if m.ConfigurationSet != "" {
		in.Set("ConfigurationSetName", m.ConfigurationSet)
	}
	if err := awscall.Query(ctx, c, awscall.SES, "SendRawEmail", in, nil); err != nil {
		return failed("send mail by SES", err, "InvalidParameterValue") // such as a mail that is too large
	}
	return nil
}
