package delivery

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/smtp"
	"net/textproto"
	"regexp"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/report/destination"
)

// mailTimeout limits the delivery of a mail, also to a server that sends its answers byte by byte.
const mailTimeout = 2 * time.Minute

// sendMail hands a mail over to the server. The connection is encrypted, unless the server is on this machine. The note
// has the addresses that the server refuses for good. After a *PartialError, the server has the mail for the others but
// those that it refuses for the moment.
func (s Sender) sendMail(ctx context.Context, to []string, message []byte) (note string, err error) {
	m := *s.Settings.Mail
	ctx, cancel := context.WithTimeout(ctx, mailTimeout)
	defer cancel()
	defer func() {
		if late := ctx.Err(); err != nil && late != nil { // the connection was closed, which alone says nothing
			err = fmt.Errorf("%w: %w", late, err)
		}
	}()
	client, closeClient, err := s.dial(ctx, m)
	if err != nil {
		return "", fmt.Errorf("connect to the mail server %s: %w", m.Server, err)
	}
	defer closeClient()
	from, err := mail.ParseAddress(m.From)
	if err != nil {
		return "", err
	}
	if err := client.Mail(from.Address); err != nil {
		return "", refusal(fmt.Errorf("the mail server refuses the sender %s: %w", from.Address, err))
	}
	var refused, later []error
	var notes, left []string
	for _, address := range to {
		err := client.Rcpt(address)
		if err == nil {
			continue
		}
		var answer *textproto.Error
		if !errors.As(err, &answer) {
			return "", fmt.Errorf("the mail server does not answer about %s: %w", address, err)
		}
		if err = fmt.Errorf("the mail server refuses %s: %w", address, err); answer.Code < 500 {
			left, later = append(left, address), append(later, err)
			continue
		}
		refused = append(refused, err)
		notes = append(notes, fmt.Sprintf("the mail server refuses %s: %s", address, Code(answer)))
	}
	if len(refused)+len(left) == len(to) {
		return "", refusal(errors.Join(append(refused, later...)...))
	}
	w, err := client.Data()
	if err == nil {
		_, err = w.Write(message)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return "", refusal(fmt.Errorf("the mail server does not take the mail: %w", err))
	}
	_ = client.Quit() // the server has the mail
	if note = strings.Join(notes, "; "); len(left) > 0 {
		return note, &PartialError{left, errors.Join(later...)}
	}
	return note, nil
}

// dial connects to the server, encrypts the connection, and authenticates. Its errors are never final, because the
// operator can correct what causes them.
func (s Sender) dial(ctx context.Context, m destination.Mail) (_ *smtp.Client, closeClient func(), err error) {
	host, port, err := net.SplitHostPort(m.Server)
	if err != nil {
		return nil, nil, err
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if s.TLS != nil {
		config = s.TLS.Clone()
	}
	config.ServerName = host
	connection, err := new(net.Dialer).DialContext(ctx, "tcp", m.Server)
	if err != nil {
		return nil, nil, err
	}
	unencrypted := connection
	stop := context.AfterFunc(ctx, func() { _ = unencrypted.Close() })
	hangUp := func() {
		stop()
		_ = unencrypted.Close() // after Quit it is closed already
	}
	defer func() {
		if err != nil {
			hangUp()
		}
	}()
	encrypted := port == "465"
	if encrypted {
		connection = tls.Client(connection, config)
	}
	client, err := smtp.NewClient(connection, host)
	if err != nil {
		return nil, nil, err
	}
	local := s.local
	if local == nil {
		local = loopback
	}
	if !encrypted && !local(connection.RemoteAddr()) {
		if offered, _ := client.Extension("STARTTLS"); !offered {
			return nil, nil, errors.New("it does not offer STARTTLS, which a server on another machine needs")
		}
		if err := client.StartTLS(config); err != nil {
			return nil, nil, fmt.Errorf("STARTTLS: %w", err)
		}
	}
	if m.User == "" {
		return client, hangUp, nil
	}
	password, err := m.Secret()
	if err != nil {
		return nil, nil, err
	}
	if err := client.Auth(plainAuth{m.User, password}); err != nil {
		return nil, nil, fmt.Errorf("authenticate as %s: %w", m.User, err)
	}
	return client, hangUp, nil
}

// plainAuth is authentication by a password. The connection is encrypted, or does not leave this machine.
type plainAuth struct{ user, password string }

func (a plainAuth) Start(*smtp.ServerInfo) (string, []byte, error) {
	return "PLAIN", []byte("\x00" + a.user + "\x00" + a.password), nil
}

func (a plainAuth) Next(_ []byte, more bool) ([]byte, error) {
	if more {
		return nil, errors.New("the server asks for more than user and password")
	}
	return nil, nil
}

func loopback(address net.Addr) bool {
	tcp, ok := address.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// refusal wraps ErrRefused if all answers of the server are permanent.
func refusal(err error) error {
	codes := answers(err)
	for _, code := range codes {
		if code < 500 {
			return err
		}
	}
	if len(codes) == 0 {
		return err
	}
	return fmt.Errorf("%w: %w", ErrRefused, err)
}

// answers returns the codes of the answers of the server in an error.
func answers(err error) []int {
	var several interface{ Unwrap() []error }
	if errors.As(err, &several) {
		var codes []int
		for _, one := range several.Unwrap() {
			codes = append(codes, answers(one)...)
		}
		return codes
	}
	var answer *textproto.Error
	if errors.As(err, &answer) {
		return []int{answer.Code}
	}
	return nil
}

var enhancedCode = regexp.MustCompile(`\A[245]\.\d{1,3}\.\d{1,3}\b`)

// Code returns the codes of an answer, such as 550 5.1.1, without its text, which may name machines.
func Code(answer *textproto.Error) string {
	return strings.TrimSpace(fmt.Sprint(answer.Code, " ", enhancedCode.FindString(answer.Msg)))
}
