package filter

import "strings"

// Nearest returns the candidate that a word was most likely meant to be, or "". It allows one edit for every three
// letters, where a swap of two neighbours is one edit, and ignores case and the difference between - and _. If no
// candidate is that close, it returns the only candidate that begins with the word.
func Nearest(word string, candidates []string) string {
	const longest = 64 // no name is longer, and the time to compare is quadratic
	if word == "" || len(word) > longest {
		return ""
	}
	plain := plainName(word)
	best, distance := "", (len(plain)+1)/3+1
	longer, several := "", false
	for _, candidate := range candidates {
		if len(candidate) > longest {
			continue
		}
		name := plainName(candidate)
		if d := editDistance(plain, name); d < distance && d < len(name) {
			best, distance = candidate, d
		}
		if len(plain) >= 3 && strings.HasPrefix(name, plain) {
			several = longer != ""
			longer = candidate
		}
	}
	if best == "" && !several {
		return longer
	}
	return best
}

func plainName(name string) string {
	return strings.ReplaceAll(strings.ToLower(name), "-", "_")
}

// editDistance returns the number of insertions, deletions, replacements and swaps of neighbours that turn a into b
// (optimal string alignment). It counts bytes, because names are ASCII.
func editDistance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			replace := last[j]
			if a[i] != b[j] {
				replace++
			}
			row[j+1] = min(replace, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
