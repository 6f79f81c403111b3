package pause

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestFor(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	if err := For(ctx, 0); err != nil {
		t.Errorf("a pause that is over: %v", err)
	}
	cancel()
	if err := For(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
}
