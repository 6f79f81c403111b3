package mail

import (
	"bytes"
	"fmt"
	"regexp"
)

var boundaryPattern = regexp.MustCompile(`(?m)^ boundary=([0-9A-Za-z]+)\r$`)

// withBoundaries replaces the random boundaries of a mail by ones that follow from its content, so that equal mails have
// equal bytes. The bodies cannot contain the random ones, which were made after them.
func withBoundaries(message, id []byte) ([]byte, error) {
	found := boundaryPattern.FindAllSubmatch(message, -1)
	if len(found) < 2 { // mixed and alternative; related only with a picture
		return nil, fmt.Errorf("write the mail: %d boundaries of parts", len(found))
	}
	for i, m := range found {
		message = bytes.ReplaceAll(message, m[1], fmt.Appendf(nil, "orrery-%d-%x", i, id[:16]))
	}
	return message, nil
}
