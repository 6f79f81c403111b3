package query_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/orrery/orrery/shared/query"
)

// TestSameTexts: texts of several lists have the same number if and only if they are equal.
func TestSameTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	var texts query.Texts
	for range 5 {
		var list query.PackedTexts
		list.Grow(100, 300)
		for _, n := range r.Perm(4000)[:1500] {
			list.Add(fmt.Append(nil, "text ", n))
		}
		texts.Append(list)
	}
	same, numbers := texts.Same(), map[string]int32{}
	for range 2 {
		for _, i := range r.Perm(texts.Len()) {
			text, number := string(texts.At(int32(i))), same(int32(i))
			if known, met := numbers[text]; met && number != known {
				t.Fatalf("%s has the numbers %d and %d", text, known, number)
			}
			if string(texts.At(number)) != text {
				t.Fatalf("%s has the number of %s", text, texts.At(number))
			}
			numbers[text] = number
		}
	}
	if len(numbers) < 2000 || len(numbers) == texts.Len() {
		t.Errorf("%d of %d texts are different", len(numbers), texts.Len())
	}
}
