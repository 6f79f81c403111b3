package emulator

import "strings"

// largestArray returns the number of elements of the longest ARRAY constructor in a statement. Of SQL, it recognizes
// only strings, quoted names and comments to the end of a line.
func largestArray(sql string) int {
	type bracket struct {
		array bool
		depth int // of parentheses inside
		count int
		empty bool
	}
	var (
		open    []bracket
		largest int
	)
	for i := 0; i < len(sql); i++ {
		c := sql[i]
		if len(open) > 0 && c != ' ' && c != '\n' && c != ']' {
			open[len(open)-1].empty = false
		}
		switch c {
		case '\'', '"':
			end := strings.IndexByte(sql[i+1:], c)
			if end < 0 {
				return largest
			}
			i += end + 1
		case '-':
			if strings.HasPrefix(sql[i:], "--") {
				end := strings.IndexByte(sql[i:], '\n')
				if end < 0 {
					return largest
				}
				i += end
			}
		case '[':
			before := strings.ToUpper(sql[max(0, i-5):i])
			open = append(open, bracket{array: before == "ARRAY", count: 1, empty: true})
		case '(', ')', ',':
			if len(open) == 0 {
				continue
			}
			top := &open[len(open)-1]
			switch {
			case c == '(':
				top.depth++
			case c == ')':
				top.depth--
			case top.depth == 0:
				top.count++
			}
		case ']':
			if len(open) == 0 {
				continue
			}
			if top := open[len(open)-1]; top.array && !top.empty {
				largest = max(largest, top.count)
			}
			open = open[:len(open)-1]
		}
	}
	return largest
}
