package dir_test

import (
	"testing"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/blob/blobtest"
	"github.com/orrery/orrery/shared/blob/dir"
)

func TestStore(t *testing.T) {
	blobtest.Test(t, func(t *testing.T) blob.Store {
		s, err := dir.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}

func TestNamesThatAreNoPathsAreRefused(t *testing.T) {
	s, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "..", "../x", "/x", "a//b", "a/../../b", ".in-flight/x"} {
		if err := s.Delete(t.Context(), name); err == nil {
			t.Errorf("%q was taken", name)
		}
	}
}
