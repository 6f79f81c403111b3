package delivery

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/report/runs"
)

// TestFolderThatDoesNotAnswer: a call to the file system that does not return ends neither the delivery nor those to
// other folders. Only some of them wait at the same time.
func TestFolderThatDoesNotAnswer(t *testing.T) {
	w := folderWriters{busy: map[string]int{}}
	release := make(chan struct{})
	ended := make(chan struct{}, mostWriters)
	hang := func() error {
		<-release
		ended <- struct{}{}
		return nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range mostWriters {
		if err := w.do(ctx, "/hung", hang); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "/hung does not answer") {
			t.Errorf("%v", err)
		}
	}
	called := false
	if err := w.do(t.Context(), "/hung", func() error { called = true; return nil }); err == nil || called || errors.Is(err, ErrRefused) {
		t.Errorf("one more: %v", err)
	}
	if err := w.do(t.Context(), "/other", func() error { return nil }); err != nil {
		t.Errorf("another folder: %v", err)
	}
	close(release)
	for range mostWriters {
		<-ended
	}
	for !w.begin("/hung") { // the writers end after they have signalled it
		runtime.Gosched()
	}
	w.end("/hung")
	if err := w.do(t.Context(), "/hung", func() error { return nil }); err != nil {
		t.Errorf("after it answers again: %v", err)
	}
}

// TestLeftoversOfFolders: what an interrupted delivery of the same report left is removed; other files stay.
func TestLeftoversOfFolders(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{".w.html-123.tmp", ".other.html-123.tmp", "w.html-1.tmp", ".w.html-note"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := deliverFolder(t.Context(), folder, []runs.File{{Name: "w.html", Content: []byte("whole")}}); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	if got := strings.Join(names, " "); got != ".other.html-123.tmp .w.html-note w.html w.html-1.tmp" {
		t.Error(got)
	}
}
