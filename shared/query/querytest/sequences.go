package querytest

import (
	"slices"

	"github.com/orrery/orrery/shared/query"
)

// Numbered returns an answer in which the texts of requests are numbered in ascending order, as an answer of rows has them.
// Only the requests on which the answer has them count.
func Numbered(a query.SequencesAnswer) query.SequencesAnswer {
	numbers := map[string]int32{}
	texts := a.Texts
	each(a, func(number *int32) { numbers[string(texts.At(*number))] = 0 })
	var list query.PackedTexts
	sorted := make([]string, 0, len(numbers))
	for text := range numbers {
		sorted = append(sorted, text)
	}
	slices.Sort(sorted)
	for i, text := range sorted {
		list.Add([]byte(text))
		numbers[text] = int32(i)
	}
	copied := a
	copied.Sequences = slices.Clone(a.Sequences)
	for i := range copied.Sequences {
		copied.Sequences[i].Requests = slices.Clone(copied.Sequences[i].Requests)
	}
	each(copied, func(number *int32) { *number = numbers[string(texts.At(*number))] })
	copied.Texts = query.Texts{}
	copied.Texts.Append(list)
	return copied
}

// each calls do with the number of each text.
func each(a query.SequencesAnswer, do func(number *int32)) {
	for _, s := range a.Sequences {
		for i := range s.Requests {
			for v := range s.Requests[i].Also {
				if number := &s.Requests[i].Also[v]; *number >= 0 {
					do(number)
				}
			}
		}
	}
}
