package worker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/textproto"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/delivery"
)

// Readers of runs see neither paths nor names of machines, nor what servers answer. The log has the whole error.

// readable returns why a report could not be made.
func readable(err error) string {
	var known *fault.Error
	switch {
	case errors.As(err, &known) && known.Message != "":
		return known.Message
	case errors.Is(err, context.DeadlineExceeded):
		return "its questions took too long"
	}
	return "the report could not be made; the log of the server has the cause"
}

// reasonOf returns why a delivery failed. An error may have a reason of its own.
func (r *Runner) reasonOf(to definition.Destination, err error) string {
	var own interface{ Reason() string }
	var answer *textproto.Error
	var known *fault.Error
	switch {
	case errors.As(err, &own):
		return own.Reason()
	case errors.As(err, &answer):
		return "the mail server answers " + delivery.Code(answer)
	case errors.As(err, &known) && known.Message != "":
		return known.Message
	case errors.Is(err, context.DeadlineExceeded):
		return "the destination did not answer in time"
	case errors.Is(err, delivery.ErrRefused):
		return r.refusal(to)
	case errors.As(err, new(*fs.PathError)), errors.As(err, new(*os.LinkError)):
		return "the files cannot be written" + codeOf(err)
	case errors.As(err, new(net.Error)):
		return "the destination cannot be reached" + codeOf(err)
	}
	return "it could not be delivered; the log of the server has the cause"
}

// refusal returns why a destination takes nothing, as far as the settings of the operator are the reason.
func (r *Runner) refusal(to definition.Destination) string {
	rules := r.Settings.Rules()
	if to.To != "" && !slices.Contains(rules.Destinations, to.To) {
		return "the operator has removed the destination"
	}
	var domains []string
	for _, address := range to.Mail {
		if domain, ok := definition.DomainOf(address, rules.Domains); !ok {
			domains = append(domains, strings.ToLower(domain))
		}
	}
	if len(domains) > 0 && len(domains) == len(to.Mail) {
		slices.Sort(domains)
		return fmt.Sprintf("the operator does not allow mail to %s any more", strings.Join(slices.Compact(domains), ", "))
	}
	return "the destination refuses it; the log of the server has the cause"
}

// codeOf returns the cause that the operating system has for an error, such as no space left on device.
func codeOf(err error) string {
	var code syscall.Errno
	if !errors.As(err, &code) {
		return ""
	}
	return ": " + code.Error()
}
