package emulator

import "strings"

// largestArray is how many elements the longest ARRAY constructor of a statement has. It knows strings, quoted names
// and comments to end of line, and no more of SQL.
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
			open = append(open, bracket{array: strings.HasSuffix(strings.ToUpper(sql[:i][max(0, i-5):]), "ARRAY"), count: 1, empty: true})
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
