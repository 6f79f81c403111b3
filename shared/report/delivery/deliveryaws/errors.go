package deliveryaws

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/smithy-go"

	"github.com/orrery/orrery/shared/report/delivery"
)

// public are the codes of errors that are shown with their messages. The messages of others have the names of roles and
// accounts, and readers of runs see them.
var public = []string{
	"AccountSendingPausedException", "ConfigurationSetDoesNotExist", "ConfigurationSetDoesNotExistException",
	"ConfigurationSetSendingPausedException", "InvalidParameterValue", "MailFromDomainNotVerified",
	"MailFromDomainNotVerifiedException", "MessageRejected", "NoSuchBucket", "Throttling",
}

// failure is an error of a service. Its reason is for readers of runs, and its message, which is for the log, says what
// permission is missing.
type failure struct{ action, code, message, reason string }

func (f *failure) Error() string {
	text := f.action + ": " + f.code
	if f.message != "" {
		text += ": " + f.message
	}
	return text
}

// Reason returns what the service answers.
func (f *failure) Reason() string { return "AWS answers " + f.reason }

// failed returns the error of a request. One with a final code would fail again for ever; what causes the others passes,
// or the operator can correct it.
func failed(action string, err error, final ...string) error {
	var answer smithy.APIError
	if !errors.As(err, &answer) {
		return fmt.Errorf("%s: %w", action, err)
	}
	code := answer.ErrorCode()
	f := &failure{action, code, strings.Join(strings.Fields(answer.ErrorMessage()), " "), code}
	if f.message != "" && slices.Contains(public, code) {
		f.reason += ": " + f.message
	}
	if slices.Contains(final, code) {
		return fmt.Errorf("%w: %w", delivery.ErrRefused, f)
	}
	return f
}
