package delivery

import (
	"bytes"
	"errors"
	"fmt"
	"net/mail"
	"regexp"
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/report/definition"
)

// toHeader matches the header To of a mail.
var toHeader = regexp.MustCompile(`(?im)^To:.*\r\n(?:[ \t].*\r\n)*`)

// allowedOnly returns a mail whose header To names only addresses of domains. The operator may have removed others
// since the mail was made.
func allowedOnly(message []byte, domains []string) ([]byte, error) {
	m, err := mail.ReadMessage(bytes.NewReader(message))
	if err != nil {
		return nil, fmt.Errorf("read the mail: %w", err)
	}
	list, err := m.Header.AddressList("To")
	if errors.Is(err, mail.ErrHeaderNotPresent) {
		return message, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the receivers of the mail: %w", err)
	}
	var allowed []string
	for _, a := range list {
		if _, ok := definition.DomainOf(a.Address, domains); ok {
			allowed = append(allowed, a.String())
		}
	}
	if len(allowed) == len(list) {
		return message, nil
	}
	place := toHeader.FindIndex(message) // the body is after the header
	if place == nil {
		return nil, errors.New("the receivers of the mail that are not allowed any more cannot be removed from its header")
	}
	line := "To: " + strings.Join(allowed, ",\r\n ") + "\r\n"
	return slices.Concat(message[:place[0]], []byte(line), message[place[1]:]), nil
}
