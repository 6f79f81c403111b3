package gzipped_test

import (
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/gzipped"
)

func TestText(t *testing.T) {
	for _, want := range []string{"", "\x00\xff", strings.Repeat("a long text ", 100_000)} {
		content := gzipped.Of([]byte(want))
		if got, err := gzipped.Text(content); string(got) != want || err != nil {
			t.Errorf("%.20q: %.20q, %v", want, got, err)
		}
		for _, length := range []int{0, 5, len(content) - 1} {
			if _, err := gzipped.Text(content[:length]); err == nil {
				t.Errorf("%.20q: %d of %d bytes are no error", want, length, len(content))
			}
		}
		content[len(content)-5] ^= 1
		if _, err := gzipped.Text(content); err == nil {
			t.Errorf("%.20q: another checksum is no error", want)
		}
	}
}
