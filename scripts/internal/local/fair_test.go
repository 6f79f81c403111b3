package local_test

import (
	"context"
	"testing"
)

// TestOneCallerLeavesRoomForAnother: however many queries a caller runs, a query of another one begins at once.
func TestOneCallerLeavesRoomForAnother(t *testing.T) {
	limiter := openProduct(t, t.TempDir()).Limiter()
	ended, cancel := context.WithCancel(t.Context())
	cancel() // who has to wait gives up
	running := 0
	for {
		release, err := limiter.Acquire(ended, "one")
		if err != nil {
			break
		}
		defer release()
		if running++; running > 1000 {
			t.Fatal("a caller has no limit")
		}
	}
	if running < 2 {
		t.Errorf("a caller runs at most %d queries at the same time", running)
	}
	release, err := limiter.Acquire(ended, "another")
	if err != nil {
		t.Fatalf("beside %d queries of one caller: %v", running, err)
	}
	release()
}
