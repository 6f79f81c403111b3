// Package deliverytest is an SMTP server for tests.
package deliverytest

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// Mail is a mail that the server took.
type Mail struct {
	From string
	To   []string
	Text []byte
	User string // who was authenticated
	TLS  bool
}

// Server is an SMTP server on a loopback address.
type Server struct {
	Address  string
	TLS      *tls.Config // nil: no STARTTLS
	Password string      // of every user; "": no authentication

	mutex   sync.Mutex
	mails   []Mail
	answers map[string]string // to commands, instead of 250
}

// Start starts a server, which ends with the test.
func Start(t testing.TB, options ...func(*Server)) *Server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Address: listener.Addr().String(), answers: map[string]string{}}
	for _, option := range options {
		option(s)
	}
	server := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		return &session{server: s, connection: c}, nil
	}))
	server.Domain, server.TLSConfig, server.AllowInsecureAuth = "localhost", s.TLS, true
	server.ErrorLog = log.New(io.Discard, "", 0)
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener) // until the listener is closed
	}()
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		<-served
		// Shutdown waits for the connections. It returns an error because the listener is already closed.
		_ = server.Shutdown(context.WithoutCancel(t.Context()))
	})
	return s
}

// Answer sets the answer to a command, such as "RCPT TO:<a@example.com>"; "": the usual one. The answer to "." is that
// to a mail.
func (s *Server) Answer(command, answer string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.answers[command] = answer
}

// Mails returns the mails that the server took.
func (s *Server) Mails() []Mail {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Clone(s.mails)
}

// refusal returns the answer to a command as an error, or nil if it is the usual one.
func (s *Server) refusal(command string) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	answer := s.answers[command]
	if answer == "" {
		return nil
	}
	code, text, _ := strings.Cut(answer, " ")
	n, err := strconv.Atoi(code)
	if err != nil {
		return fmt.Errorf("the answer %q has no code: %w", answer, err)
	}
	return &smtp.SMTPError{Code: n, EnhancedCode: smtp.NoEnhancedCode, Message: text}
}

// session is a connection to the server.
type session struct {
	server     *Server
	connection *smtp.Conn
	user       string
	from       string
	to         []string
}

var _ smtp.AuthSession = (*session)(nil)

// AuthMechanisms implements smtp.AuthSession.
func (s *session) AuthMechanisms() []string {
	if s.server.Password == "" {
		return nil
	}
	return []string{sasl.Plain}
}

// Auth implements smtp.AuthSession.
func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if password != s.server.Password {
			return smtp.ErrAuthFailed
		}
		s.user = user
		return nil
	}), nil
}

// Mail implements smtp.Session.
func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.from = from
	return s.server.refusal("MAIL FROM:<" + from + ">")
}

// Rcpt implements smtp.Session.
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	if err := s.server.refusal("RCPT TO:<" + to + ">"); err != nil {
		return err
	}
	s.to = append(s.to, to)
	return nil
}

// Data implements smtp.Session.
func (s *session) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if err := s.server.refusal("."); err != nil {
		return err
	}
	_, encrypted := s.connection.TLSConnectionState()
	s.server.mutex.Lock()
	defer s.server.mutex.Unlock()
	s.server.mails = append(s.server.mails, Mail{From: s.from, To: s.to, Text: text, User: s.user, TLS: encrypted})
	return nil
}

// Reset implements smtp.Session.
func (s *session) Reset() { s.from, s.to = "", nil }

// Logout implements smtp.Session.
func (s *session) Logout() error { return nil }
