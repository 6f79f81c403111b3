package parquet

import "testing"

func TestPackedNumbersAreTheSame(t *testing.T) {
	for name, numbers := range map[string][]int32{
		"equal":    {7, 7, 7},
		"bytes":    {0, 255, 1},
		"words":    {256, 0, 65535},
		"integers": {65536, 0, 1<<31 - 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := pack(numbers)
			for i, n := range numbers {
				if got := p.at(i); got != uint32(n) {
					t.Errorf("number %d is %d, want %d", i, got, n)
				}
			}
		})
	}
}
