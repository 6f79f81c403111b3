package client

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStatusHasEveryMember decodes the examples of the API. A member that the types do not have is an error, and so is a
// member of the types that no example has.
func TestStatusHasEveryMember(t *testing.T) {
	files, err := filepath.Glob("../api/examples/status.200.*.http")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, response, _ := strings.Cut(string(text), "--- response\n")
		_, body, _ := strings.Cut(response, "\n\n")
		d := json.NewDecoder(strings.NewReader(body))
		d.DisallowUnknownFields()
		var answer struct {
			Data Status `json:"data"`
		}
		if err := d.Decode(&answer); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		again, err := json.MarshalIndent(answer, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		var before, after any
		if err := json.Unmarshal([]byte(body), &before); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(again, &after); err != nil {
			t.Fatal(err)
		}
		want, err1 := json.Marshal(before)
		got, err2 := json.Marshal(after)
		if err1 != nil || err2 != nil || !bytes.Equal(want, got) {
			t.Errorf("%s:\n%s\n%s", file, want, got)
		}
	}
}

func TestStatus(t *testing.T) {
	s := newScript(t, scripted{http.StatusOK, nil, `{"data":{"version":"1.0.0","records":7,"key":{"name":"console"}}}`},
		scripted{http.StatusOK, nil, `<html>`})
	got, err := s.client.Status(t.Context())
	if err != nil || got.Version != "1.0.0" || *got.Records != 7 || got.Key.Name != "console" || got.Ingest != nil {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := s.client.Status(t.Context()); err == nil || !strings.Contains(err.Error(), "format of the API") {
		t.Error(err)
	}
	const ask = "GET /live/api/v4.0/status"
	s.expect([]string{ask, ask})
}
