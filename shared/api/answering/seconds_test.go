package answering

import (
	"testing"
	"time"
)

func TestWholeSeconds(t *testing.T) {
	if wait := wholeSeconds(1500 * time.Millisecond); wait != "2" {
		t.Errorf("seconds are %s", wait)
	}
}
