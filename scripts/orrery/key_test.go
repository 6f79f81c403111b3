package main

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/shared/table/tabledynamo/dynamotest"
)

var (
	secretLine = regexp.MustCompile(`\Aorr_[a-z2-7]{26}\n\z`)
	idLine     = regexp.MustCompile(`(?m)^([0-9a-f]{12})  `)
)

// createKey creates a key with the command and returns it.
func createKey(t *testing.T, args ...string) string {
	t.Helper()
	stdout, stderr, code := orrery(t, "", append([]string{"key", "create"}, args...)...)
	if code != exit.Done || !secretLine.MatchString(stdout) || strings.Contains(stderr, strings.TrimSpace(stdout)) {
		t.Fatalf("key create exited %d with output %q and %q", code, stdout, stderr)
	}
	return strings.TrimSpace(stdout)
}

func TestKeyIsShownOnce(t *testing.T) {
	data := filepath.Join(t.TempDir(), "new")
	secret := createKey(t, "shop team", "--data", data, "--scope", "data:read", "--scope", "conf:read",
		"--branch", "staging", "--expires", "2999-01-31")
	list, stderr, code := orrery(t, "", "key", "list", "--data", data)
	if code != exit.Done || !strings.Contains(list, "shop team  usable  conf:read,data:read  staging   ") ||
		!strings.Contains(list, "2999-01-31T00:00:00Z") {
		t.Errorf("list exited %d: %s%s", code, list, stderr)
	}
	if strings.Contains(list, secret) {
		t.Error("the list shows the key")
	}
	files, err := filepath.Glob(filepath.Join(data, "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if text, err := os.ReadFile(file); err != nil || bytes.Contains(text, []byte(secret)) {
			t.Errorf("%s contains the key, or cannot be read: %v", file, err)
		}
	}
	_, stderr, code = orrery(t, "", "key", "revoke", idLine.FindStringSubmatch(list)[1], "--data", data)
	if code != exit.Done || !strings.Contains(stderr, "was revoked") {
		t.Errorf("revoke exited %d: %s", code, stderr)
	}
	if list, _, _ := orrery(t, "", "key", "list", "--data", data); !strings.Contains(list, "revoked") {
		t.Errorf("the list after the key was revoked: %s", list)
	}
}

// configureAWS sets these variables and hides the machine's configuration of the SDK.
func configureAWS(t *testing.T, variables map[string]string) {
	t.Helper()
	none := filepath.Join(t.TempDir(), "none")
	for name, value := range map[string]string{
		"AWS_CONFIG_FILE": none, "AWS_SHARED_CREDENTIALS_FILE": none,
		"AWS_PROFILE": "", "AWS_REGION": "", "AWS_DEFAULT_REGION": "",
	} {
		t.Setenv(name, value)
	}
	for name, value := range variables {
		t.Setenv(name, value)
	}
}

func TestKeyCommandErrors(t *testing.T) {
	data := t.TempDir()
	configureAWS(t, nil)
	if _, stderr, code := orrery(t, "", "key", "create", "other", "--data", data, "--scope", "data:read"); code != 0 {
		t.Fatal(stderr) // revoke needs a data folder, which create creates
	}
	tests := map[string]struct {
		args []string
		code int
		want string
	}{
		"no scope": {
			[]string{"create", "n", "--data", data},
			exit.Usage, "--scope",
		},
		"an unknown scope": {
			[]string{"create", "n", "--data", data, "--scope", "all"},
			exit.Failed, "data:read, data:write, conf:read, conf:write",
		},
		"an invalid expiry": {
			[]string{"create", "n", "--data", data, "--scope", "data:read", "--expires", "soon"},
			exit.Usage, "2026-01-31",
		},
		"an invalid name": {
			[]string{"create", "-", "--data", data, "--scope", "data:read"},
			exit.Failed, `"-" is not a valid key name`,
		},
		"a folder without data": {
			[]string{"list", "--data", filepath.Join(data, "none")},
			exit.Failed, "there is no data",
		},
		"an unknown key": {
			[]string{"revoke", "n", "--data", data},
			exit.Failed, `no key has the ID "n"`,
		},
		"a table without a region": {
			[]string{"list", "--table", "t"},
			exit.Failed, "AWS_REGION",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, code := orrery(t, "", append([]string{"key"}, test.args...)...)
			if code != test.code || stdout != "" || !strings.Contains(stderr, test.want) {
				t.Errorf("exit %d: %s%s", code, stdout, stderr)
			}
		})
	}
}

// TestServeWithKeys checks that a running server applies the changes that the key command makes.
func TestServeWithKeys(t *testing.T) {
	data := tourData(t)
	s := startServer(t, data, "--no-demo")
	ask := func(key string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.base+"/api/v4.0/conf/prod/planets", nil)
		if err != nil {
			t.Fatal(err)
		}
		if key != "" {
			r.SetBasicAuth("", key)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := answer.Body.Close(); err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode
	}
	if got := ask(""); got != http.StatusOK {
		t.Errorf("before the first key: %d", got)
	}
	reader := createKey(t, "console", "--data", data, "--scope", "conf:read")
	elsewhere := createKey(t, "shop", "--data", data, "--scope", "conf:read", "--branch", "staging")
	revoked := createKey(t, "revoked", "--data", data, "--scope", "conf:read")
	if _, stderr, code := orrery(t, "", "key", "revoke", "revoked", "--data", data); code != exit.Done {
		t.Fatalf("revoke exited %d: %s", code, stderr)
	}
	for name, test := range map[string]struct {
		key  string
		want int
	}{
		"no key":                   {"", 401},
		"the key":                  {reader, 200},
		"a key for another branch": {elsewhere, 404},
		"a revoked key":            {revoked, 401},
	} {
		if got := ask(test.key); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
	open := startServer(t, data, "--no-demo", "--listen", "0.0.0.0:0")
	if !strings.Contains(open.log.String(), `"needs_key":true`) {
		t.Errorf("the log does not say that a key is needed:\n%s", open.log.String())
	}
	if err := open.interrupt(); err != nil {
		t.Error(err)
	}
	if err := s.interrupt(); err != nil {
		t.Error(err)
	}
}

// TestKeysOfADeployment creates, lists and revokes keys in the table of a deployment.
func TestKeysOfADeployment(t *testing.T) {
	_, table := dynamotest.Client(t)
	configureAWS(t, map[string]string{
		"AWS_ENDPOINT_URL_DYNAMODB": os.Getenv(dynamotest.Variable),
		"AWS_REGION":                "us-east-1", "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local",
	})
	createKey(t, "console", "--table", table, "--scope", "data:read")
	if _, stderr, code := orrery(t, "", "key", "revoke", "console", "--table", table); code != exit.Done {
		t.Errorf("revoke exited %d: %s", code, stderr)
	}
	list, stderr, code := orrery(t, "", "key", "list", "--table", table)
	if code != exit.Done || !strings.Contains(list, "console  revoked  data:read") {
		t.Errorf("list exited %d: %s%s", code, list, stderr)
	}
	list, stderr, code = orrery(t, "", "key", "list", "--table", table+"-none")
	if code != exit.Failed || !strings.Contains(stderr, "ResourceNotFound") {
		t.Errorf("a missing table: exit %d: %s%s", code, list, stderr)
	}
}
