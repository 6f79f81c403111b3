package blobtest_test

import (
	"testing"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/blob/blobtest"
)

func TestMemory(t *testing.T) {
	blobtest.Test(t, func(*testing.T) blob.Store { return &blobtest.Memory{} })
}
