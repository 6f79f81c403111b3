package delivery

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/delivery/deliverytest"
	"github.com/orrery/orrery/shared/report/destination"
	"github.com/orrery/orrery/shared/report/runs"
)

var mailFiles = []runs.File{{Name: MailName, Content: []byte("Subject: a\r\n\r\n.dot\r\nlast\r\n")}}

func to(addresses ...string) definition.Destination { return definition.Destination{Mail: addresses} }

// sender returns a sender to a server, which counts as one on another machine if remote is true.
func sender(s *deliverytest.Server, remote bool) Sender {
	return Sender{
		Settings: destination.Settings{Mail: &destination.Mail{
			Server: s.Address, From: "Orrery <orrery@example.com>", Domains: []string{"example.com"},
		}},
		local: func(net.Addr) bool { return !remote },
	}
}

// certificate returns the settings of a server with a certificate, and of a client that trusts it.
func certificate(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	s := httptest.NewTLSServer(nil) // its certificate is for 127.0.0.1
	defer s.Close()
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return &tls.Config{Certificates: s.TLS.Certificates}, &tls.Config{RootCAs: pool}
}

func TestMail(t *testing.T) {
	server := deliverytest.Start(t)
	note, err := sender(server, false).Deliver(t.Context(), to("a@example.com", "b@example.com"), mailFiles)
	if note != "" || err != nil {
		t.Fatal(note, err)
	}
	want := []deliverytest.Mail{{
		From: "orrery@example.com", To: []string{"a@example.com", "b@example.com"}, Text: mailFiles[0].Content,
	}}
	if diff := cmp.Diff(want, server.Mails()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMailIsEncrypted(t *testing.T) {
	forServer, forClient := certificate(t)
	withTLS := func(s *deliverytest.Server) { s.TLS = forServer }
	for _, test := range []struct {
		rule   string
		server *deliverytest.Server
		tls    *tls.Config
		want   string // of the error
	}{
		{"starttls", deliverytest.Start(t, withTLS), forClient, ""},
		{"a server without starttls", deliverytest.Start(t), forClient, "does not offer STARTTLS"},
		{"an unknown certificate", deliverytest.Start(t, withTLS), &tls.Config{RootCAs: x509.NewCertPool()}, "certificate"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			s := sender(test.server, true)
			s.TLS = test.tls
			_, err := s.Deliver(t.Context(), to("a@example.com"), mailFiles)
			mails := test.server.Mails()
			if test.want == "" {
				if err != nil || len(mails) != 1 || !mails[0].TLS {
					t.Errorf("%v %v", mails, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || errors.Is(err, ErrRefused) || len(mails) > 0 {
				t.Errorf("%v, %d mails", err, len(mails))
			}
		})
	}
}

func TestMailWithPassword(t *testing.T) {
	server := deliverytest.Start(t, func(s *deliverytest.Server) { s.Password = "right" })
	s := sender(server, false)
	s.Settings.Mail.User, s.Settings.Mail.Password = "orrery", "wrong"
	if _, err := s.Deliver(t.Context(), to("a@example.com"), mailFiles); err == nil || errors.Is(err, ErrRefused) ||
		!strings.Contains(err.Error(), "authenticate as orrery") || strings.Contains(err.Error(), "wrong\x00") {
		t.Errorf("%v", err)
	}
	s.Settings.Mail.Password = "right"
	if _, err := s.Deliver(t.Context(), to("a@example.com"), mailFiles); err != nil || server.Mails()[0].User != "orrery" {
		t.Errorf("%v", err)
	}
}

// TestAnswersOfMailServers: permanent answers end the delivery, others do not.
func TestAnswersOfMailServers(t *testing.T) {
	for _, test := range []struct {
		rule, command, answer, note, want string
		refused                           bool
	}{
		{"a refused sender", "MAIL FROM:<orrery@example.com>", "550 no", "", "refuses the sender", true},
		{"a busy server", "MAIL FROM:<orrery@example.com>", "451 later", "", "451", false},
		{"one address is refused", "RCPT TO:<b@example.com>", "550 who", "refuses b@example.com: 550", "", false},
		{"a mail that is not taken", ".", "554 spam", "", "does not take the mail: 554", true},
		{"a full mailbox", ".", "452 full", "", "452", false},
	} {
		t.Run(test.rule, func(t *testing.T) {
			server := deliverytest.Start(t)
			server.Answer(test.command, test.answer)
			note, err := sender(server, false).Deliver(t.Context(), to("a@example.com", "b@example.com"), mailFiles)
			if !strings.Contains(note, test.note) || (note == "") != (test.note == "") {
				t.Errorf("note %q", note)
			}
			if (err == nil) != (test.want == "") || errors.Is(err, ErrRefused) != test.refused ||
				err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v", err)
			}
			if test.note != "" && len(server.Mails()[0].To) != 1 {
				t.Errorf("%v", server.Mails())
			}
		})
	}
}

// TestAddressesThatAreRefusedForNow: the others have the mail, and those that are refused for the moment can be tried
// again. Notes have no text of the server.
func TestAddressesThatAreRefusedForNow(t *testing.T) {
	server := deliverytest.Start(t)
	server.Answer("RCPT TO:<b@example.com>", "451 4.7.1 later, says 10.0.0.7")
	server.Answer("RCPT TO:<c@example.com>", "550 5.1.1 who, says 10.0.0.7")
	note, err := sender(server, false).Deliver(t.Context(), to("a@example.com", "b@example.com", "c@example.com"), mailFiles)
	var partial *PartialError
	if !errors.As(err, &partial) || errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "451") {
		t.Fatalf("%v", err)
	}
	if diff := cmp.Diff([]string{"b@example.com"}, partial.Left); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if note != "the mail server refuses c@example.com: 550 5.1.1" {
		t.Errorf("note %q", note)
	}
	if mails := server.Mails(); len(mails) != 1 || len(mails[0].To) != 1 || mails[0].To[0] != "a@example.com" {
		t.Errorf("%v", mails)
	}
}

func TestAddressesThatAreAllRefused(t *testing.T) {
	server := deliverytest.Start(t)
	server.Answer("RCPT TO:<a@example.com>", "550 who")
	server.Answer("RCPT TO:<b@example.com>", "451 later")
	s := sender(server, false)
	if _, err := s.Deliver(t.Context(), to("a@example.com"), mailFiles); !errors.Is(err, ErrRefused) {
		t.Errorf("for ever: %v", err)
	}
	if _, err := s.Deliver(t.Context(), to("a@example.com", "b@example.com"), mailFiles); err == nil || errors.Is(err, ErrRefused) {
		t.Errorf("one of them for now: %v", err)
	}
}

// TestDomainThatIsNoLongerAllowed: the operator may forbid a domain after a report was defined.
func TestDomainThatIsNoLongerAllowed(t *testing.T) {
	server := deliverytest.Start(t)
	for _, to := range []definition.Destination{to("b@Partner.example"), to("a@example.com", "b@Partner.example")} {
		note, err := sender(server, false).Deliver(t.Context(), to, mailFiles)
		if note != "" || !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "mail to b@Partner.example") {
			t.Errorf("%s: note %q, %v", to, note, err)
		}
	}
	if n := len(server.Mails()); n > 0 {
		t.Errorf("%d mails", n)
	}
}

// TestHeaderWithForbiddenAddresses: the header of a mail names only allowed addresses, or the mail is not sent.
func TestHeaderWithForbiddenAddresses(t *testing.T) {
	for _, test := range []struct{ rule, mail, want string }{
		{"all are allowed", "To: a@example.com\r\n\r\nText", "To: a@example.com\r\n\r\nText"},
		{"one of two is allowed", "To: a@example.com,\r\n b@partner.example\r\n\r\nText", "To: <a@example.com>\r\n\r\nText"},
		{"the header has other line ends", "To: a@example.com, b@partner.example\n\nText", ""},
	} {
		t.Run(test.rule, func(t *testing.T) {
			got, err := allowedOnly([]byte(test.mail), []string{"example.com"})
			if string(got) != test.want || (err == nil) != (test.want != "") {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

func TestServerThatIsDown(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := Sender{Settings: destination.Settings{Mail: &destination.Mail{
		Server: listener.Addr().String(), From: "a@example.com", Domains: []string{"example.com"},
	}}}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Deliver(t.Context(), to("a@example.com"), mailFiles); err == nil || errors.Is(err, ErrRefused) {
		t.Errorf("%v", err)
	}
	if _, err := (Sender{}).Deliver(t.Context(), to("a@example.com"), mailFiles); err == nil || errors.Is(err, ErrRefused) {
		t.Errorf("mail that is not set up: %v", err)
	}
}

func TestFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a", "b")
	s := Sender{Settings: destination.Settings{Destinations: map[string]destination.Destination{"archive": destination.Folder{Path: folder}}}}
	files := []runs.File{{Name: "w.html", Content: bytes.Repeat([]byte("x"), 100_000)}, {Name: "w.csv", Content: []byte("1")}}
	for range 2 { // a repeated delivery leaves the same files
		if _, err := s.Deliver(t.Context(), definition.Destination{To: "archive"}, files); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v %v", entries, err)
	}
	for _, f := range files {
		if got, err := os.ReadFile(filepath.Join(folder, f.Name)); err != nil || !bytes.Equal(got, f.Content) {
			t.Errorf("%s: %d bytes, %v", f.Name, len(got), err)
		}
	}
	if _, err := s.Deliver(t.Context(), definition.Destination{To: "other"}, files); !errors.Is(err, ErrRefused) {
		t.Errorf("a destination that was removed: %v", err)
	}
}

func TestFolderThatCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := Sender{Settings: destination.Settings{Destinations: map[string]destination.Destination{"archive": destination.Folder{Path: file}}}}
	_, err := s.Deliver(t.Context(), definition.Destination{To: "archive"}, []runs.File{{Name: "a"}})
	if err == nil || errors.Is(err, ErrRefused) {
		t.Errorf("%v", err)
	}
}
