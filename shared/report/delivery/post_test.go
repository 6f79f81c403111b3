package delivery

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/report"
	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/destination"
	"github.com/orrery/orrery/shared/report/runs"
)

// model returns a report of a scheduled run.
func model(title string) report.Report {
	r := report.New(report.Setting{
		Title: title, Template: report.Traffic, Zone: time.UTC, Link: "https://orrery.example",
		Period: report.Day.Last(time.Date(2026, 11, 23, 7, 0, 0, 0, time.UTC)),
	}, nil)
	r.Run.Scheduled = &report.Scheduled{ID: "3f1c0a9b", Config: "prod", Report: "daily"}
	return r
}

// filesOf returns the files of a report for a destination with a name.
func filesOf(r report.Report) []runs.File {
	return []runs.File{
		{Name: "prod-daily.csv", Content: r.CSV()}, {Name: "prod-daily.html", Content: r.HTML()},
		{Name: "prod-daily.json", Content: r.JSON()}, {Name: "prod-daily.txt", Content: r.Text()},
	}
}

// secretPath is part of the URL of each webhook, and must be in no error.
const secretPath = "/T0/B0/secret"

// hook is a server that takes messages, and a sender to it. Loopback addresses count as public.
type hook struct {
	url    string
	sender Sender
	answer func(w http.ResponseWriter, r *http.Request)

	asked []*http.Request
	body  []byte // of the last request
}

func startHook(t *testing.T) *hook {
	t.Helper()
	h := &hook{answer: func(http.ResponseWriter, *http.Request) {}}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.asked = append(h.asked, r)
		h.body, _ = io.ReadAll(r.Body)
		h.answer(w, r)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of clients that do not trust its certificate
	server.StartTLS()
	t.Cleanup(server.Close)
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	h.url = server.URL + secretPath
	h.sender = Sender{TLS: &tls.Config{RootCAs: pool}, public: func(netip.Addr) bool { return true }}
	return h
}

// secret returns a secret in a file.
func secret(t *testing.T, text string) destination.Secret {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return destination.Secret{File: path}
}

// deliver delivers a report to a destination.
func (h *hook) deliver(ctx context.Context, to destination.Destination) error {
	h.sender.Settings.Destinations = map[string]destination.Destination{"to": to}
	_, err := h.sender.Deliver(ctx, definition.Destination{To: "to"}, filesOf(model("Daily")))
	return err
}

func TestWebhook(t *testing.T) {
	h := startHook(t)
	to := destination.Webhook{URL: secret(t, h.url)}
	if err := h.deliver(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	r := h.asked[0]
	got := map[string][]string{"method": {r.Method}, "path": {r.URL.Path}}
	for name, values := range r.Header {
		got[name] = values
	}
	want := map[string][]string{
		"method": {"POST"}, "path": {secretPath}, "Content-Type": {"application/json"}, "User-Agent": {"orrery"},
		"X-Orrery-Run": {"3f1c0a9b"}, "Connection": {"close"}, "Content-Length": got["Content-Length"],
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if body := model("Daily").JSON(); !bytes.Equal(h.body, body) {
		t.Errorf("the body is not the report in JSON:\n%s", cmp.Diff(string(body), string(h.body)))
	}
	to.Signing = secret(t, "key")
	if err := h.deliver(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	sum := hmac.New(sha256.New, []byte("key"))
	sum.Write(append([]byte("3f1c0a9b\n"), h.body...))
	if got, want := h.asked[1].Header.Get("X-Orrery-Signature"), "sha256="+hex.EncodeToString(sum.Sum(nil)); got != want {
		t.Errorf("the signature is %s, want %s", got, want)
	}
}

// TestAnswersOfWebhooks: an answer that will be the same later ends the delivery. No error has the URL.
func TestAnswersOfWebhooks(t *testing.T) {
	for _, test := range []struct {
		rule    string
		status  int
		body    string
		want    string // of the error
		refused bool
	}{
		{"ok", 200, "ok", "", false},
		{"no content", 204, "", "", false},
		{"a redirect is not followed", 307, "", "the webhook answers 307 Temporary Redirect", false},
		{"a bad request", 400, "invalid_blocks", "the webhook answers 400 Bad Request: invalid_blocks", true},
		{"a url that is not valid any more", 404, "no_service", "the webhook answers 404 Not Found: no_service", true},
		{"a text that is no code", 403, "see " + secretPath, "the webhook answers 403 Forbidden", true},
		{"a text of many lines", 403, "a_b\nc_d", "the webhook answers 403 Forbidden", true},
		{"a timeout", 408, "", "the webhook answers 408 Request Timeout", false},
		{"too many messages", 429, "rate_limited", "the webhook answers 429 Too Many Requests: rate_limited", false},
		{"a failure", 500, "", "the webhook answers 500 Internal Server Error", false},
		{"a busy server", 503, "", "the webhook answers 503 Service Unavailable", false},
	} {
		t.Run(test.rule, func(t *testing.T) {
			h := startHook(t)
			h.answer = func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, test.body)
			}
			err := h.deliver(t.Context(), destination.Webhook{URL: secret(t, h.url)})
			text := ""
			if err != nil {
				text = strings.TrimPrefix(err.Error(), "refused: ")
			}
			if text != test.want || errors.Is(err, ErrRefused) != test.refused || len(h.asked) != 1 {
				t.Errorf("got %v after %d requests, want %s", err, len(h.asked), test.want)
			}
			var known interface{ Reason() string }
			if err != nil && (!errors.As(err, &known) || known.Reason() != test.want) {
				t.Errorf("%v is not the reason for readers of runs", err)
			}
		})
	}
}

// TestLongAnswersOfWebhooks: of a long answer, only the beginning is read.
func TestLongAnswersOfWebhooks(t *testing.T) {
	h := startHook(t)
	ended := make(chan bool, 1)
	h.answer = func(w http.ResponseWriter, r *http.Request) {
		line := make([]byte, 64<<10)
		for range 1000 { // more than the buffers of a connection
			if _, err := w.Write(line); err != nil {
				ended <- false
				return
			}
		}
		ended <- true
	}
	if err := h.deliver(t.Context(), destination.Webhook{URL: secret(t, h.url)}); err != nil {
		t.Error(err)
	}
	if <-ended {
		t.Error("all of the answer was read")
	}
}

func TestWebhookThatDoesNotAnswer(t *testing.T) {
	h := startHook(t)
	ctx, cancel := context.WithCancel(t.Context())
	h.answer = func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
		panic(http.ErrAbortHandler) // there is no answer
	}
	err := h.deliver(ctx, destination.Webhook{URL: secret(t, h.url)})
	if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), secretPath) {
		t.Errorf("%v", err)
	}
}

// TestURLsOfWebhooks: the operator can correct a URL, so its faults are not final. No error has a part of it.
func TestURLsOfWebhooks(t *testing.T) {
	h := startHook(t)
	closed := httptest.NewTLSServer(nil)
	closed.Close()
	for _, test := range []struct{ rule, url, want string }{
		{"http", strings.Replace(h.url, "https:", "http:", 1), "is not an address that begins with https://"},
		{"no host", "https://" + secretPath, "is not an address"},
		{"another scheme", "file://" + secretPath, "is not an address"},
		{"a user", strings.Replace(h.url, "https://", "https://user:secret@", 1), "is not an address"},
		{"no url", "secret", "is not an address"},
		{"a url that cannot be parsed", "https://secret%zz", "is not an address"},
		{"an empty file", " ", "is empty"},
		{"an unknown certificate", h.url, "its certificate is not valid"},
		{"a server that is down", closed.URL + secretPath, "the connection failed"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			sender := *h
			sender.sender.TLS = nil
			to := destination.Slack{URL: secret(t, test.url)}
			err := sender.deliver(t.Context(), to)
			if err == nil || !strings.Contains(err.Error(), test.want) || errors.Is(err, ErrRefused) {
				t.Fatalf("got %v, want %s", err, test.want)
			}
			text := strings.ReplaceAll(err.Error(), to.URL.File, "")
			if strings.Contains(text, "secret") || strings.Contains(text, "127.0.0.1") {
				t.Errorf("the error has parts of the URL: %s", text)
			}
		})
	}
	if len(h.asked) > 0 {
		t.Errorf("%d requests", len(h.asked))
	}
	err := h.deliver(t.Context(), destination.Webhook{URL: destination.Secret{File: filepath.Join(t.TempDir(), "none")}})
	if err == nil || errors.Is(err, ErrRefused) {
		t.Errorf("a missing file: %v", err)
	}
}

// TestWebhooksUseNoProxy: a proxy would connect to any address.
func TestWebhooksUseNoProxy(t *testing.T) {
	if (Sender{}).network().Client(postTimeout).Transport.(*http.Transport).Proxy != nil {
		t.Error("a proxy may be used")
	}
}

// fakeAWS has the values of parameters, and keeps what it is given.
type fakeAWS struct {
	old, current string // values of each parameter
	fresh        int    // how often a fresh one was read
	mails        int
	receivers    []string
	files        []runs.File
	messages     []Message
	deadline     bool
}

func (f *fakeAWS) SendMail(_ context.Context, _ destination.Mail, to []string, _ []byte) error {
	f.mails++
	f.receivers = append(f.receivers, to...)
	return nil
}

func (f *fakeAWS) Put(_ context.Context, _ destination.Bucket, files []runs.File) error {
	f.files = append(f.files, files...)
	return nil
}

func (f *fakeAWS) Publish(_ context.Context, _ destination.Topic, m Message) error {
	f.messages = append(f.messages, m)
	return nil
}

func (f *fakeAWS) Parameter(ctx context.Context, _ string, fresh bool) (string, error) {
	end, ok := ctx.Deadline()
	f.deadline = ok && time.Until(end) <= postTimeout
	if fresh {
		f.fresh++
		return f.current, nil
	}
	return f.old, nil
}

// TestParametersThatHaveChanged: if an old URL is refused, the current one is tried.
func TestParametersThatHaveChanged(t *testing.T) {
	h := startHook(t)
	h.answer = func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/old" {
			w.WriteHeader(http.StatusNotFound)
		}
	}
	base := strings.TrimSuffix(h.url, secretPath)
	services := &fakeAWS{old: base + "/old", current: base + "/new"}
	h.sender.AWS = services
	to := destination.Slack{URL: destination.Secret{Parameter: "/orrery/slack"}}
	if err := h.deliver(t.Context(), to); err != nil || len(h.asked) != 2 || services.fresh != 1 {
		t.Errorf("%v, %d requests", err, len(h.asked))
	}
	if !services.deadline {
		t.Error("the delivery has no deadline")
	}
	services.current = services.old
	if err := h.deliver(t.Context(), to); !errors.Is(err, ErrRefused) {
		t.Errorf("%v", err)
	}
	h.sender.AWS = nil
	if err := h.deliver(t.Context(), to); err == nil || errors.Is(err, ErrRefused) {
		t.Errorf("a program that cannot use AWS: %v", err)
	}
}

// nameServer starts a server that gives each name the address 127.0.0.1, and returns a resolver that asks it, and the
// number of questions.
func nameServer(t *testing.T) (*net.Resolver, *atomic.Int64) {
	t.Helper()
	listener, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var questions atomic.Int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			question := make([]byte, 1500)
			n, from, err := listener.ReadFrom(question)
			if err != nil {
				return
			}
			questions.Add(1)
			if _, err := listener.WriteTo(loopbackAnswer(question[:n]), from); err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		<-done
	})
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", listener.LocalAddr().String())
	}}, &questions
}

// loopbackAnswer answers a question of the DNS: the address of IPv4 is 127.0.0.1, and there is no other one.
func loopbackAnswer(question []byte) []byte {
	end := 12
	for question[end] != 0 {
		end += 1 + int(question[end])
	}
	end += 5 // the end of the name, type and class
	answer := append([]byte{}, question[:end]...)
	answer[2], answer[3] = 0x81, 0x80 // an answer without an error
	copy(answer[4:], []byte{0, 1, 0, 0, 0, 0, 0, 0})
	if isA := question[end-3] == 1; isA {
		answer[7] = 1
		answer = append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1)
	}
	return answer
}

// TestNamesOfPrivateAddresses: a name of the public DNS may have a private address. It is checked when it is dialled.
func TestNamesOfPrivateAddresses(t *testing.T) {
	h := startHook(t)
	resolver, questions := nameServer(t)
	u, err := url.Parse(h.url)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = "example.com:" + u.Port() // the certificate is also for this name
	to := destination.Webhook{URL: secret(t, u.String())}
	h.sender.resolver = resolver
	if err := h.deliver(t.Context(), to); err != nil || len(h.asked) != 1 {
		t.Fatalf("without the check: %v, %d requests", err, len(h.asked))
	}
	h.sender.public = nil
	asked := questions.Load()
	err = h.deliver(t.Context(), to)
	if err == nil || !strings.Contains(err.Error(), "does not have a public address") || errors.Is(err, ErrRefused) || len(h.asked) != 1 {
		t.Errorf("%v, %d requests", err, len(h.asked)-1)
	}
	if questions.Load() == asked {
		t.Error("the name was not resolved again")
	}
	if strings.Contains(err.Error(), "127.0.0.1") || strings.Contains(err.Error(), "example.com") {
		t.Errorf("the error has the address: %v", err)
	}
}
