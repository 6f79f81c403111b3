// Package deliverytest is an SMTP server for tests.
package deliverytest

import (
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/textproto"
	"slices"
	"strings"
	"sync"
	"testing"
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
	lose    bool
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
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { s.serve(connection) })
		}
	})
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		serving.Wait()
	})
	return s
}

// Answer sets the answer to a command, such as "RCPT TO:<a@example.com>" or "DATA"; "": the usual one. The answer to "."
// is that to a mail.
func (s *Server) Answer(command, answer string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.answers[command] = answer
}

// LoseAnswers makes the server take mails and close the connection without an answer, as if it was lost.
func (s *Server) LoseAnswers(lose bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.lose = lose
}

// Mails returns the mails that the server took.
func (s *Server) Mails() []Mail {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Clone(s.mails)
}

func (s *Server) take(m Mail) (lose bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.mails = append(s.mails, m)
	return s.lose
}

func (s *Server) answer(command string) string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if answer := s.answers[command]; answer != "" {
		return answer
	}
	return "250 OK"
}

// serve serves a connection until its end.
func (s *Server) serve(connection net.Conn) {
	defer func() { _ = connection.Close() }() // the client may have closed it
	text := textproto.NewConn(connection)
	if text.PrintfLine("220 test") != nil {
		return
	}
	var m Mail
	for {
		line, err := text.ReadLine()
		if err != nil {
			return
		}
		verb, argument, _ := strings.Cut(line, " ")
		answer := s.answer(line)
		switch strings.ToUpper(verb) {
		case "EHLO":
			answer = "250-test\r\n"
			if s.Password != "" {
				answer += "250-AUTH PLAIN\r\n"
			}
			if s.TLS != nil && !m.TLS {
				answer += "250-STARTTLS\r\n"
			}
			answer += "250 HELP"
		case "STARTTLS":
			if text.PrintfLine("220 go") != nil {
				return
			}
			connection = tls.Server(connection, s.TLS)
			text, m = textproto.NewConn(connection), Mail{TLS: true}
			continue
		case "AUTH":
			sent, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(argument, "PLAIN "))
			parts := strings.Split(string(sent), "\x00")
			answer = "535 wrong"
			if len(parts) == 3 && parts[2] == s.Password {
				m.User, answer = parts[1], "235 welcome"
			}
		case "MAIL":
			m.From = address(argument)
		case "RCPT":
			if strings.HasPrefix(answer, "250") {
				m.To = append(m.To, address(argument))
			}
		case "DATA":
			if !strings.HasPrefix(answer, "250") {
				break
			}
			if text.PrintfLine("354 go on") != nil {
				return
			}
			body, err := io.ReadAll(text.DotReader())
			if err != nil && !errors.Is(err, io.EOF) {
				return
			}
			answer = s.answer(".")
			if strings.HasPrefix(answer, "250") {
				m.Text = bytes.Clone(body)
				if s.take(m) {
					return
				}
			}
			m = Mail{TLS: m.TLS, User: m.User}
		case "QUIT":
			_ = text.PrintfLine("221 bye")
			return
		}
		if text.PrintfLine("%s", answer) != nil {
			return
		}
	}
}

func address(argument string) string {
	_, rest, _ := strings.Cut(argument, "<")
	found, _, _ := strings.Cut(rest, ">")
	return found
}
