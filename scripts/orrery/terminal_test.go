package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
)

// TestEscapesOfNamesAreNotPrinted: a name or an argument with the escape character of terminals is printed escaped by
// every command that prints it, also in an error of the command line.
func TestEscapesOfNamesAreNotPrinted(t *testing.T) {
	folder := t.TempDir()
	data := filepath.Join(folder, "data\x1b[2K")
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const line = `192.0.2.7 - - [17/May/2026:10:05:03 +0000] "GET / HTTP/1.1" 200 5` + "\n"
	log := write("a\x1b[2K.log", line+"no record\n"+line+"half")
	unknown := write("b\x1b[2K.log", "a,b\n")
	for _, test := range []struct {
		name string
		args []string
		code int
	}{
		{"the reports of an import", []string{"import", "--data", data, log}, exit.Rejected},
		{"a second import with other values", []string{"import", "--data", data, "--set", "host=\x1b[2K", log}, exit.Done},
		{"a log of unknown format", []string{"import", "--data", data, unknown}, exit.Failed},
		{"a log that does not exist", []string{"import", "--data", data, log + ".gz"}, exit.Failed},
		{"the imports", []string{"imports", "--data", data}, exit.Done},
		{"the quarantine", []string{"quarantine", "--data", data}, exit.Done},
		{"an import that does not exist", []string{"quarantine", "--data", data, "--import", "\x1b[2K"}, exit.Failed},
		{"an unknown flag", []string{"import", "--data", data, "--\x1b[2K", log}, exit.Usage},
		{"an unknown command", []string{"\x1b[2K"}, exit.Usage},
		{"an unexpected argument", []string{"imports", "\x1b[2K"}, exit.Usage},
		{"a value of a flag", []string{"query", "logs", "x", "--last", "\x1b[2K", "--data", data}, exit.Failed},
		{"a filter with a mistake", []string{"parse", "hots=\x1b[2K, status=404"}, exit.Failed},
		{"a folder that does not exist", []string{"imports", "--data", data + "2"}, exit.Failed},
		{"a name of a key", []string{"key", "create", "\x1b[2K", "--scope", "data:read", "--data", data}, exit.Failed},
	} {
		t.Run(test.name, func(t *testing.T) {
			stdout, stderr, code := runHere(t.Context(), "", test.args...)
			if code != test.code || strings.ContainsRune(stdout+stderr, '\x1b') || stdout+stderr == "" {
				t.Errorf("exit code %d, want %d: %q %q", code, test.code, stdout, stderr)
			}
		})
	}
	const answer = `{"filters":"host=\"\u001b[2K\"","message":"\u001b[2K","list":[{"name":"\u001b[2K"}],` +
		`"title":"\u001b[2K","name":"a","period":"hour","tz":"UTC","paused":true,"reason":"\u001b[2K",` +
		`"deliver":[{"to":"\u001b[2K"}],"runs":[{"id":"\u001b[2K","reason":"\u001b[2K"}],` +
		`"versions":[{"by":"\u001b[2K"}]}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", "\"\u009b2K\"")
		fmt.Fprint(w, answer)
	}))
	defer server.Close()
	for _, args := range [][]string{
		{"planet", "put", "prod"}, {"filter", "versions", "a"}, {"report", "runs", "a"}, {"report", "preview", "a"},
	} {
		t.Run(strings.Join(args[:2], " "), func(t *testing.T) {
			stdout, stderr, code := runHere(t.Context(), "{}", append(args, "--url", server.URL)...)
			if code != exit.Done || strings.ContainsRune(stdout, '\x1b') || !strings.Contains(stdout, `\u{1b}[2K`) {
				t.Errorf("exit code %d: %q %q", code, stdout, stderr)
			}
		})
	}
	for _, args := range [][]string{{"filter", "get", "a"}, {"planet", "get", "prod"}} {
		t.Run("the ETag of "+args[0]+" get", func(t *testing.T) {
			_, stderr, code := runHere(t.Context(), "", append(args, "--url", server.URL)...)
			if code != exit.Done || stderr != `ETag: "\u{9b}2K"`+"\n" {
				t.Errorf("exit code %d: %q", code, stderr)
			}
		})
	}
	t.Run("the progress of an import", func(t *testing.T) {
		bar := terminal.NewProgress(io.Discard, 1, "a\x1b[2K.log", true)
		if got := bar.State().Description; got != `a\u{1b}[2K.log` {
			t.Errorf("it shows %q", got)
		}
	})
}
