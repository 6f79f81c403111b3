package delivery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/publicnet"
	"github.com/orrery/orrery/shared/report/destination"
)

const (
	postTimeout = 30 * time.Second
	// mostAnswer is how many bytes of an answer are read.
	mostAnswer = 4096
)

// request is what is sent to the URL of a secret.
type request struct {
	to      string // "Slack", "the webhook"
	url     destination.Secret
	signing destination.Secret // with which sign is called, unless it is the zero value
	header  http.Header
	sign    func(h http.Header, secret string)
	body    []byte
}

// post sends a request. The errors do not have the URL, because it is a secret. If the request is refused, and the
// secrets are parameters, it is repeated with their current values.
func (s Sender) post(ctx context.Context, r request) error {
	ctx, cancel := context.WithTimeout(ctx, postTimeout)
	defer cancel()
	err := s.postOnce(ctx, r, false)
	if errors.Is(err, ErrRefused) && r.url.Parameter+r.signing.Parameter != "" {
		err = s.postOnce(ctx, r, true)
	}
	return err
}

func (s Sender) postOnce(ctx context.Context, r request, fresh bool) error {
	address, err := s.secret(ctx, r.url, fresh)
	if err != nil {
		return fmt.Errorf("read the URL of %s: %w", r.to, err)
	}
	if !publicnet.IsAddress(address) {
		return fmt.Errorf("the URL of %s in %s is not an address that begins with https://", r.to, r.url)
	}
	header := r.header.Clone()
	if r.signing != (destination.Secret{}) {
		secret, err := s.secret(ctx, r.signing, fresh)
		if err != nil {
			return fmt.Errorf("read the secret of %s: %w", r.to, err)
		}
		r.sign(header, secret)
	}
	sent, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(r.body))
	if err != nil {
		return fmt.Errorf("the URL of %s in %s is not valid", r.to, r.url)
	}
	sent.Header = header
	answer, err := s.network().Client(postTimeout).Do(sent)
	if err != nil {
		err = publicnet.Cause(err)
		if errors.Is(err, context.Canceled) {
			return fmt.Errorf("send to %s: %w", r.to, err)
		}
		return &PublicError{"send to " + r.to + ": " + err.Error()}
	}
	defer func() { _ = answer.Body.Close() }() // the answer is complete, or not needed
	text, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswer))
	return judge(r.to, answer.StatusCode, text, err)
}

// network returns how webhooks are reached.
func (s Sender) network() publicnet.Network {
	return publicnet.Network{TLS: s.TLS, Public: s.public, Resolver: s.resolver}
}

// secret reads a secret, which must not be empty.
func (s Sender) secret(ctx context.Context, from destination.Secret, fresh bool) (text string, err error) {
	switch {
	case from.Parameter == "":
		text, err = from.ReadFile()
	case s.AWS == nil:
		return "", errNoAWS
	default:
		text, err = s.AWS.Parameter(ctx, from.Parameter, fresh)
	}
	if text = strings.TrimSpace(text); text == "" && err == nil {
		err = fmt.Errorf("%s is empty", from)
	}
	return text, err
}

// answerCode is a code of Slack, such as invalid_token.
var answerCode = regexp.MustCompile(`\A[a-z]+(_[a-z]+){1,8}\z`)

// judge returns the error of an answer: nil for a success. Its text comes from another machine, so only a short code is
// shown. The text is incomplete if there was an error when it was read.
func judge(to string, status int, text []byte, read error) error {
	if status/100 == 2 {
		return nil // even if the connection was lost after this
	}
	reason := fmt.Sprintf("%s answers %d %s", to, status, http.StatusText(status))
	if read == nil && len(text) <= 64 && answerCode.Match(text) {
		reason += ": " + string(text)
	}
	err := &PublicError{reason}
	if status/100 == 4 && status != http.StatusRequestTimeout && status != http.StatusTooManyRequests {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return err
}
