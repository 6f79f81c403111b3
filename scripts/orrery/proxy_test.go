package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
)

// proxies are the proxies of PRODUCTION.md. A page of their settings is put into frame instead of SETTINGS, with the
// address of the proxy instead of PROXY and a folder instead of DIR.
var proxies = map[string]struct {
	frame   string
	command []string
}{
	"nginx": {`user root; # may write to DIR; ignored if another user runs the test
daemon off;
pid DIR/pid;
error_log stderr;
events {}
http {
	access_log off;
	client_body_temp_path DIR/body;
	proxy_temp_path DIR/proxy;
	fastcgi_temp_path DIR/fastcgi;
	uwsgi_temp_path DIR/uwsgi;
	scgi_temp_path DIR/scgi;
	SETTINGS
}
`, []string{"nginx", "-c"}},
	"caddyfile": {`{
	admin off
	auto_https off
}
http://PROXY {
	SETTINGS
}
`, []string{"caddy", "run", "--adapter", "caddyfile", "--config"}},
}

// withoutTLS matches what a test without a certificate leaves out.
var withoutTLS = regexp.MustCompile(`(?m)^\s*ssl_certificate.*\n`)

// TestBehindAProxy: the settings of PRODUCTION.md serve console, API, its document and links of reports below a path.
func TestBehindAProxy(t *testing.T) {
	page, err := os.ReadFile("PRODUCTION.md")
	if err != nil {
		t.Fatal(err)
	}
	data := tourData(t)
	for language, proxy := range proxies {
		t.Run(language, func(t *testing.T) {
			program, err := exec.LookPath(proxy.command[0])
			if err != nil {
				t.Skip(err)
			}
			block := regexp.MustCompile("(?s)\n```" + language + "\n(.*?)```\n").FindSubmatch(page)
			if block == nil {
				t.Fatalf("PRODUCTION.md has no settings of %s", language)
			}
			address := freeAddress(t)
			base := "http://" + address + "/orrery"
			s := startServer(t, data, "--no-demo", "--api-key", "a-key-for-the-test", "--public-url", base+"/",
				"--trusted-proxy", "127.0.0.1")
			settings := strings.ReplaceAll(string(block[1]), "127.0.0.1:8080", strings.TrimPrefix(s.base, "http://"))
			dir := t.TempDir()
			config := filepath.Join(dir, "config")
			settings = withoutTLS.ReplaceAllString(strings.Replace(settings, "listen 443 ssl", "listen "+address, 1), "")
			text := strings.NewReplacer("DIR", dir, "PROXY", address, "SETTINGS", settings).Replace(proxy.frame)
			if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			startProxy(t, program, append(proxy.command[1:], config), dir, base)
			checkBehindProxy(t, base)
		})
	}
}

// freeAddress returns a loopback address on which nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // it was only to choose the port
	return l.Addr().String()
}

// startProxy starts a proxy, and stops it after the test.
func startProxy(t *testing.T, program string, args []string, dir, base string) {
	t.Helper()
	var out bytes.Buffer
	command := exec.Command(program, args...)
	command.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	command.Stdout, command.Stderr = &out, &out
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	var end error
	ended := make(chan struct{})
	go func() {
		end = command.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		if err := command.Process.Signal(os.Interrupt); err == nil {
			<-ended
		}
	})
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if answer, err := http.Get(base + "/healthz"); err == nil {
			_ = answer.Body.Close()
			return
		}
		select {
		case <-ended:
			t.Fatalf("the proxy ended: %v\n%s", end, out.String())
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("the proxy does not answer")
		}
	}
}

func checkBehindProxy(t *testing.T, base string) {
	t.Helper()
	get := func(address string) string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("x-api-key", "a-key-for-the-test")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %v, %.300s", address, answer.Status, err, body)
		}
		return string(body)
	}
	for _, page := range []string{"/", "/api/"} {
		at, err := url.Parse(base + page)
		if err != nil {
			t.Fatal(err)
		}
		files := regexp.MustCompile(`(?:src|href)="([^":#]+)"`).FindAllStringSubmatch(get(at.String()), -1)
		if len(files) < 2 {
			t.Errorf("%s refers to %d files", page, len(files))
		}
		for _, file := range files {
			to, err := at.Parse(html.UnescapeString(file[1]))
			if err != nil || !strings.HasPrefix(to.String(), base+"/") {
				t.Errorf("%s refers to %s, which is not below the path, %v", page, file[1], err)
				continue
			}
			get(to.String())
		}
	}
	var document struct{ Servers []struct{ URL string } }
	if err := json.Unmarshal([]byte(get(base+"/openapi.json")), &document); err != nil {
		t.Fatal(err)
	}
	if len(document.Servers) == 0 || !strings.HasPrefix(document.Servers[0].URL, base+"/") {
		t.Errorf("servers: %+v", document.Servers)
	}
	filters := "filters=" + url.QueryEscape(tourDay)
	if body := get(base + "/api/v4.0/data/stats?segment=1d&" + filters); !strings.Contains(body, `"num_of_requests":3000`) {
		t.Errorf("stats: %.300s", body)
	}
	if body := get(base + "/api/v4.0/data/report?format=html&" + filters); !strings.Contains(body, `href="`+base+"/") {
		t.Errorf("the report has no links to %s", base)
	}
	stdout, stderr, code := inProcess(t, "query", "logs", tourDay, "--limit", "5", "--format", "ndjson", "--url", base,
		"--api-key", "a-key-for-the-test")
	if code != exit.Done || strings.Count(stdout, "\n") != 5 {
		t.Errorf("query: exit %d, %s%s", code, stdout, stderr)
	}
	for range 5 { // a proxy must pass on why a body is refused that it is still sending
		upload, err := http.Post(base+"/api/v4.0/imports?name=a.log", "text/plain", bytes.NewReader(make([]byte, 8_000_000)))
		if err != nil {
			t.Fatal(err)
		}
		if _ = upload.Body.Close(); upload.StatusCode != http.StatusUnauthorized {
			t.Errorf("an import without a key: %s", upload.Status)
		}
	}
	if answer, err := http.Get(fmt.Sprintf("%s/api/v4.0/data/stats?%s", base, filters)); err != nil ||
		answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a key: %v, %v", answer, err)
	} else {
		_ = answer.Body.Close()
	}
}
