package listsource_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/publicnet"
	"github.com/orrery/orrery/shared/table/tabletest"
	"github.com/orrery/orrery/shared/tomlfile"
	"github.com/orrery/orrery/shared/valuelist"
	"github.com/orrery/orrery/shared/valuelist/listfile"
	"github.com/orrery/orrery/shared/valuelist/listsource"
)

func TestRead(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no file", "", ""},
		{"lists by name", "[list.tor]\nurl = 'https://tor.example/exits'\n[list.bots]\nurl = 'https://bots.example/'\nconfig = 'staging'\n" +
			"[source.shop]\nfolder = 'logs'\n[mail]\nserver = 'x'\n",
			"staging bots https://bots.example/\nprod tor https://tor.example/exits\n"},
		{"an unknown key", "[list.tor]\nurls = 'x'", "line 2: list.tor.urls: there is no such key"},
		{"a name", "[list.Tor]\nurl = 'https://tor.example/'", "list.Tor: the name of a list has a-z, 0-9 and -"},
		{"a configuration", "[list.tor]\nurl = 'https://tor.example/'\nconfig = '/'", `list.tor.config: "/" is not the name`},
		{"no URL", "[list.tor]", "list.tor.url: it must begin with https://"},
		{"a URL of HTTP", "[list.tor]\nurl = 'http://tor.example/'", "list.tor.url: it must begin with https://"},
		{"a password", "[list.tor]\nurl = 'https://me:secret@tor.example/'", "and have neither a user nor a password"},
	} {
		folder := t.TempDir()
		if c.text != "" {
			if err := os.WriteFile(filepath.Join(folder, tomlfile.Name), []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		sources, err := listsource.Read(folder)
		got := ""
		for _, s := range sources {
			got += fmt.Sprintln(s.Config, s.Name, s.URL)
		}
		if err != nil {
			got = err.Error()
			if fault.KindOf(err) != fault.Invalid {
				t.Errorf("%s: the kind of %v", c.name, err)
			}
		}
		if !strings.Contains(got, c.want) || strings.Contains(got, "secret") {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// publisher is a server of lists, and a network in which its address counts as public.
type publisher struct {
	url     string
	network publicnet.Network
	answer  func(w http.ResponseWriter, r *http.Request)
	asked   int
}

func startPublisher(t *testing.T) *publisher {
	t.Helper()
	p := &publisher{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.asked++
		p.answer(w, r)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of connections that are given up
	server.StartTLS()
	t.Cleanup(server.Close)
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	p.url = server.URL + "/secret"
	p.network = publicnet.Network{TLS: &tls.Config{RootCAs: pool}, Public: func(netip.Addr) bool { return true }}
	return p
}

func (p *publisher) publish(text string) {
	p.answer = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, text) // the client may have gone
	}
}

func TestFetch(t *testing.T) {
	p := startPublisher(t)
	redirect := func(to string) func(w http.ResponseWriter, r *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/list" {
				_, _ = io.WriteString(w, "192.0.2.1\n")
				return
			}
			http.Redirect(w, r, to, http.StatusFound)
		}
	}
	for _, c := range []struct {
		name   string
		answer func(w http.ResponseWriter, r *http.Request)
		want   string
	}{
		{"a redirect", redirect("/list"), "192.0.2.1\n"},
		{"a redirect to HTTP", redirect("http://127.0.0.1/list"), "its server answers 302 Found"},
		{"redirects without an end", redirect("/again"), "its server answers 302 Found"},
		{"a web page", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, "answers with a web page"},
		{"no list", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, "its server answers 404 Not Found"},
		{"a large list", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(bytes.Repeat([]byte("# comment\n"), listsource.MaxBytes/10+1))
		}, "the answer has more than 32 MB"},
		{"half a list", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "192.0.2.1\n")
		}, "the connection failed"},
	} {
		p.answer = c.answer
		text, err := listsource.Fetch(t.Context(), p.network, p.url)
		got := string(text)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) || len(got) > 1000 || strings.Contains(got, "secret") {
			t.Errorf("%s: got %.200q, want %q", c.name, got, c.want)
		}
	}
	asked := p.asked
	private := publicnet.Network{TLS: p.network.TLS}
	if _, err := listsource.Fetch(t.Context(), private, p.url); err != publicnet.ErrNotPublic || p.asked != asked { //nolint:errorlint // exactly this text is shown
		t.Errorf("an address that is not public: %v, %d requests", err, p.asked-asked)
	}
}

// TestRefresh follows a list for some days.
func TestRefresh(t *testing.T) {
	p := startPublisher(t)
	documents, objects := document.Over(&tabletest.Memory{}), listfile.Folder(t.TempDir())
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var logged bytes.Buffer
	source := listsource.Source{Config: "prod", Name: "tor", URL: p.url}
	id := valuelist.DocumentOf("prod", "tor")
	r := &listsource.Refresher{
		Sources: []listsource.Source{source}, Documents: documents, Objects: objects, Network: p.network,
		Log: slog.New(slog.NewTextHandler(&logged, nil)), Now: func() time.Time { return now },
	}
	addresses := func(n int) string {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "192.0.2.%d\n", i)
		}
		return text.String()
	}
	for _, step := range []struct {
		name, published string
		after           time.Duration
		version, values int
		asked           bool
		logs            string
	}{
		{"the first time", addresses(10), 0, 1, 10, true, "has changed"},
		{"before a day has passed", addresses(12), 23 * time.Hour, 1, 10, false, ""},
		{"a day later", addresses(12), time.Hour, 2, 12, true, "version=2"},
		{"the same values in another form", "# tor\n" + addresses(12), 24 * time.Hour, 2, 12, true, ""},
		{"half of the values", addresses(6), 24 * time.Hour, 2, 12, true, "had 12 values and has 6 now; if this is right, run 'orrery list put tor URL --config prod'"},
		{"less than an hour after a failure", addresses(14), 59 * time.Minute, 2, 12, false, ""},
		{"an hour after a failure", addresses(14), time.Minute, 3, 14, true, "version=3"},
		{"values of another kind", "sorry\nthis\nlist\nhas\nmoved\nto\nanother\nplace\n", 24 * time.Hour, 3, 14, true, "the values were addresses and are texts now"},
		{"no values", "# nothing\n", time.Hour, 3, 14, true, "the list has no values"},
		{"more than half of the values", addresses(8), time.Hour, 4, 8, true, "version=4"},
	} {
		now = now.Add(step.after)
		p.publish(step.published)
		asked := p.asked
		logged.Reset()
		r.Tick(t.Context())
		v, err := document.Current(t.Context(), documents, id)
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		have, err := valuelist.Stored(v.Text)
		if err != nil {
			t.Fatal(err)
		}
		read, err := valuelist.Read(t.Context(), objects, have.Digest)
		if err != nil || v.Number != step.version || len(read) != step.values || v.By != "orrery.toml" {
			t.Errorf("%s: version %d by %s has %d values, %v", step.name, v.Number, v.By, len(read), err)
		}
		if got := p.asked > asked; got != step.asked {
			t.Errorf("%s: asked %v, want %v", step.name, got, step.asked)
		}
		if text := logged.String(); !strings.Contains(text, step.logs) || step.logs == "" && text != "" || strings.Contains(text, "secret") {
			t.Errorf("%s: logged %q", step.name, text)
		}
	}
}

// TestLoop: the lists are refreshed at once, and the loop ends with its context.
func TestLoop(t *testing.T) {
	p := startPublisher(t)
	p.publish("a\n")
	documents := document.Over(&tabletest.Memory{})
	r := &listsource.Refresher{
		Sources:   []listsource.Source{{Config: "staging", Name: "words", URL: p.url}},
		Documents: documents, Objects: listfile.Folder(t.TempDir()), Network: p.network,
		Log: slog.New(slog.DiscardHandler), Now: time.Now,
	}
	ctx, stop := context.WithCancel(t.Context())
	ticks := make(chan time.Time)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.Loop(ctx, ticks)
	}()
	ticks <- time.Time{} // is taken after the first refresh
	stop()
	<-ended
	lists, err := documents.List(t.Context(), valuelist.Kind, "staging")
	if err != nil || len(lists) != 1 {
		t.Fatalf("%v, %v", lists, err)
	}
	if diff := cmp.Diff("staging/words", r.Sources[0].String()); diff != "" {
		t.Error(diff)
	}
}

// TestReadmeExample: the example of the command's README is valid.
func TestReadmeExample(t *testing.T) {
	text, err := os.ReadFile("../../../scripts/README.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)```toml\n(\\[list.*?)```").FindSubmatch(text)
	if found == nil {
		t.Fatal("the README has no example of lists")
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, tomlfile.Name), found[1], 0o600); err != nil {
		t.Fatal(err)
	}
	if sources, err := listsource.Read(folder); err != nil || len(sources) != 2 {
		t.Errorf("%v, %v", sources, err)
	}
}
