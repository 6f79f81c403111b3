package local

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// TestLogOfQueries: what queries log is in the log of the handler, also while they are answered from the demo.
func TestLogOfQueries(t *testing.T) {
	product, err := Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := product.Close(); err != nil {
			t.Error(err)
		}
	}()
	var log bytes.Buffer
	if _, err := product.Handler(ServeOptions{Log: slog.New(slog.NewTextHandler(&log, nil))}); err != nil {
		t.Fatal(err)
	}
	product.startFailed(errors.New("no memory for one"))
	product.demo.startFailed(errors.New("no memory for the other"))
	for _, want := range []string{`error="no memory for one"`, `error="no memory for the other"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log is %s", log.String())
		}
	}
}
