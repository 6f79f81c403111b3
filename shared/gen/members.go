package gen

// member is a member of a record. Its name and value are JSON.
type member struct {
	name  string
	value string
}

// splitMembers appends the members of a record of this package to into.
func splitMembers(into []member, line string) []member {
	for at := 1; at < len(line); {
		name := at
		at = endOfString(line, at)
		value := at + 1 // after the colon
		end := endOfValue(line, value)
		into = append(into, member{name: line[name:at], value: line[value:end]})
		at = end + 1
	}
	return into
}

// endOfString returns the offset after the string that starts at i.
func endOfString(s string, i int) int {
	for i++; s[i] != '"'; i++ {
		if s[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// endOfValue returns the offset after the value that starts at i.
func endOfValue(s string, i int) int {
	for depth := 0; ; {
		switch s[i] {
		case '"':
			i = endOfString(s, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth < 0 {
				return i
			}
		case ',':
			if depth == 0 {
				return i
			}
		}
		i++
	}
}

func appendMembers(b []byte, members []member) []byte {
	for i, m := range members {
		b = append(b, separator(i, "{")...)
		b = append(append(append(b, m.name...), ':'), m.value...)
	}
	return append(b, '}')
}
