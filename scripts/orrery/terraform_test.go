package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTerraform sends the requests of the vendor's Terraform provider for the resource and the data source
// link11waap_planet_trusted_nets, in the order of its operations. The provider uses HTTPS, so a proxy with TLS precedes
// the server. It reads a planet after every write and accepts only the status 200 and the status 404 of a read.
func TestTerraform(t *testing.T) {
	data := tourData(t)
	key := createKey(t, "terraform", "--data", data, "--scope", "conf:read", "--scope", "conf:write")
	s := startServer(t, data, "--no-demo")
	provider := newTerraformProvider(t, s.base, key)

	office := trustedNet{Source: "ip", Comment: "office", Address: "10.0.0.0/8"}
	partners := trustedNet{Source: "global_filter", Comment: "partners", GlobalFilter: "e2b0fca0c5a4"}
	t.Run("the same requests on the wire", func(t *testing.T) {
		provider := provider.of(t)
		if status, _ := provider.read("made"); status != http.StatusNotFound {
			t.Errorf("a planet that does not exist: %d", status)
		}
		for _, step := range []struct {
			name    string
			nets    []trustedNet
			message string
		}{
			{"create", []trustedNet{office, partners}, "Successfully created entry"},
			{"change", []trustedNet{partners, {Source: "ip", Address: "2001:db8::1"}}, "Successfully updated entry"},
			{"remove all", []trustedNet{}, "Successfully updated entry"},
		} {
			status, answer := provider.write("made", step.nets)
			if want := `{"message":"` + step.message + `"}`; status != http.StatusOK || answer != want {
				t.Fatalf("%s: %d %s, want 200 %s", step.name, status, answer, want)
			}
			for range 2 { // the refresh of each plan, and the data source
				status, got := provider.read("made")
				if diff := cmp.Diff(step.nets, got.TrustedNets); status != http.StatusOK || diff != "" {
					t.Errorf("%s, then read: %d (-sent +read):\n%s", step.name, status, diff)
				}
				if got.ID != "__default__" || got.Name != "__default__" {
					t.Errorf("%s, then read: id %q, name %q", step.name, got.ID, got.Name)
				}
			}
		}
	})
	t.Run("an import reads a planet that has been there before", func(t *testing.T) {
		if status, got := provider.of(t).read("prod"); status != http.StatusOK || got.ID != "__default__" {
			t.Errorf("%d %+v", status, got)
		}
	})
	t.Run("a mistake is shown by the first message of the detail", func(t *testing.T) {
		status, answer := provider.of(t).write("made", []trustedNet{office, {Source: "ip", Address: "10.1.0.0/8"}})
		var refused struct{ Detail []struct{ Msg string } }
		if err := json.Unmarshal([]byte(answer), &refused); err != nil {
			t.Fatal(err)
		}
		if status != http.StatusUnprocessableEntity || len(refused.Detail) == 0 ||
			!strings.Contains(refused.Detail[0].Msg, `"10.1.0.0/8" is the same network as "10.0.0.0/8"`) {
			t.Errorf("%d %s", status, answer)
		}
	})
	t.Run("an unknown key is refused", func(t *testing.T) {
		stranger := newTerraformProvider(t, s.base, key+"x")
		if status, _ := stranger.write("made", nil); status != http.StatusUnauthorized {
			t.Errorf("%d", status)
		}
	})
	if err := s.interrupt(); err != nil {
		t.Errorf("serve ended with %v\n%s", err, s.log.String())
	}
}

// TestTerraformApply applies, changes, destroys and imports the resource of the README with the real Terraform. The
// variable names the folder with the provider, built from github.com/link11dev/terraform-provider-link11waap.
func TestTerraformApply(t *testing.T) {
	folder := os.Getenv("ORRERY_TEST_TERRAFORM")
	if folder == "" {
		t.Skip("ORRERY_TEST_TERRAFORM is not set")
	}
	readme, err := os.ReadFile("../../shared/api/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "```hcl\n")
	resource, _, ok := strings.Cut(rest, "```\n")
	if !ok {
		t.Fatal("the README has no resource")
	}
	data := tourData(t)
	key := createKey(t, "terraform", "--data", data, "--scope", "conf:read", "--scope", "conf:write")
	s := startServer(t, data, "--no-demo")
	proxy := newProxy(t, s.base)
	tf := terraform{t: t, folder: t.TempDir()}
	tf.write("main.tf", resource)
	tf.write("terraformrc", `provider_installation { dev_overrides { "link11dev/link11waap" = "`+folder+`" } }`)
	tf.write("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: proxy.Certificate().Raw})))
	tf.environment = append(environment(),
		"TF_CLI_CONFIG_FILE="+filepath.Join(tf.folder, "terraformrc"), "CHECKPOINT_DISABLE=1",
		"SSL_CERT_FILE="+filepath.Join(tf.folder, "ca.pem"),
		"LINK11_DOMAIN="+strings.TrimPrefix(proxy.URL, "https://"), "LINK11_API_KEY="+key)

	provider := newTerraformProvider(t, s.base, key)
	tf.run("1 added", "apply", "-auto-approve")
	tf.run("No changes", "plan")
	tf.write("main.tf", strings.Replace(resource, "10.0.0.0/8", "2001:db8::/32", 1))
	tf.run("1 changed", "apply", "-auto-approve")
	tf.run("No changes", "plan")
	want := []trustedNet{
		{Source: "ip", Comment: "office", Address: "2001:db8::/32"},
		{Source: "global_filter", Comment: "partners", GlobalFilter: "e2b0fca0c5a4"},
	}
	tf.run("1 destroyed", "destroy", "-auto-approve")
	status, got := provider.read("staging")
	if diff := cmp.Diff(want, got.TrustedNets); status != http.StatusOK || diff != "" {
		t.Errorf("after destroy the planet is to remain: %d (-want +got):\n%s", status, diff)
	}
	tf.run("Import successful", "import", "link11waap_planet_trusted_nets.main", "staging/__default__")
	tf.run("No changes", "plan")
}

// terraform is a folder in which the command terraform runs.
type terraform struct {
	t           *testing.T
	folder      string
	environment []string
}

func (tf terraform) write(name, text string) {
	tf.t.Helper()
	if err := os.WriteFile(filepath.Join(tf.folder, name), []byte(text), 0o600); err != nil {
		tf.t.Fatal(err)
	}
}

// run runs a command that has to succeed and to print a text.
func (tf terraform) run(prints string, args ...string) {
	tf.t.Helper()
	args = slices.Insert(args, 1, "-no-color")
	command := exec.CommandContext(tf.t.Context(), "terraform", args...)
	command.Dir, command.Env = tf.folder, tf.environment
	if output, err := command.CombinedOutput(); err != nil || !strings.Contains(string(output), prints) {
		tf.t.Fatalf("terraform %s: %v, want %q:\n%s", strings.Join(args, " "), err, prints, output)
	}
}

// terraformProvider sends the requests of the provider.
type terraformProvider struct {
	t      *testing.T
	client *http.Client
	base   string
	key    string
}

func newTerraformProvider(t *testing.T, server, key string) terraformProvider {
	t.Helper()
	proxy := newProxy(t, server)
	return terraformProvider{t, proxy.Client(), proxy.URL + "/api/v4.3", key}
}

// newProxy starts a proxy with TLS before the server.
func newProxy(t *testing.T, server string) *httptest.Server {
	t.Helper()
	to, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewTLSServer(httputil.NewSingleHostReverseProxy(to))
	t.Cleanup(proxy.Close)
	return proxy
}

func (p terraformProvider) of(t *testing.T) terraformProvider {
	p.t = t
	return p
}

// trustedNet is an entry of trusted_nets as the provider encodes it.
type trustedNet struct {
	Source       string `json:"source"`
	Comment      string `json:"comment"`
	Address      string `json:"address,omitempty"`
	GlobalFilter string `json:"gf_id,omitempty"`
}

// terraformPlanet is the body of a write, and what the provider decodes of a read.
type terraformPlanet struct {
	ID           string          `json:"id"`
	Name         string          `json:"name"`
	TrustedNets  []trustedNet    `json:"trusted_nets"`
	Challenge    json.RawMessage `json:"ichallenge"`
	CertName     string          `json:"no_host_cert_name"`
	SSLCiphers   string          `json:"no_host_ssl_ciphers"`
	SSLProtocols []string        `json:"no_host_ssl_protocols"`
}

func (p terraformProvider) write(config string, nets []trustedNet) (status int, answer string) {
	p.t.Helper()
	body, err := json.Marshal(terraformPlanet{
		ID: "__default__", Name: "__default__", TrustedNets: nets,
		Challenge: json.RawMessage(`{"attrs":{"html":{"dir":"ltr"}},"palette":["#4285F4","#FBBC05"],` +
			`"position":{"style":"logo"},"lang":{"en":{"click":{"0":"Inside"},` +
			`"src":"data:image/png;base64,iVBORw0KGgo="}}}`),
		CertName: "placeholder-certificate", SSLCiphers: "ECDHE-ECDSA-AES256-GCM-SHA384:!aNULL",
		SSLProtocols: []string{"TLSv1.2", "TLSv1.3"},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	status, text := p.send(http.MethodPut, "/conf/"+config+"/planets/__default__", bytes.NewReader(body))
	return status, string(text)
}

func (p terraformProvider) read(config string) (status int, planet terraformPlanet) {
	p.t.Helper()
	status, text := p.send(http.MethodGet, "/conf/"+config+"/planets", nil)
	if err := json.Unmarshal(text, &planet); err != nil {
		p.t.Fatalf("%d %s: %v", status, text, err)
	}
	return status, planet
}

// send sends a request with the headers of the provider. A GET has a Content-Type too.
func (p terraformProvider) send(method, path string, body io.Reader) (status int, answer []byte) {
	p.t.Helper()
	request, err := http.NewRequestWithContext(context.Background(), method, p.base+path, body)
	if err != nil {
		p.t.Fatal(err)
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Basic "+p.key)
	request.Header.Set("User-Agent", "terraform-provider-link11waap/dev")
	response, err := p.client.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	answer, err = io.ReadAll(response.Body)
	if closing := response.Body.Close(); err == nil {
		err = closing
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return response.StatusCode, answer
}
