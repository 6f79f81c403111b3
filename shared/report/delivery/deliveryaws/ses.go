package deliveryaws

import (
	"context"
	"fmt"
	"net/mail"

	"github.com/aws/aws-sdk-go-v2/service/ses"
	"github.com/aws/aws-sdk-go-v2/service/ses/types"

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
	in := &ses.SendRawEmailInput{
		Source: &from.Address, Destinations: to, RawMessage: &types.RawMessage{Data: message},
	}
	if m.ConfigurationSet != "" {
		in.ConfigurationSetName = &m.ConfigurationSet
	}
	if _, err := ses.NewFromConfig(c).SendRawEmail(ctx, in); err != nil {
		return failed("send mail by SES", err, "InvalidParameterValue") // such as a mail that is too large
	}
	return nil
}
