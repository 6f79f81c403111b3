package why

import (
	"fmt"
	"strings"
)

// attribute is an argument in Terraform's language. Its value is a text, a list of texts, a boolean or an expression.
type attribute struct {
	name  string
	value any
}

// expression is a value that Terraform computes.
type expression string

// blockOf writes a block with its attributes, and then the blocks in it.
func blockOf(head string, attributes []attribute, inner ...string) string {
	body := attributesOf(attributes)
	for i, one := range inner {
		if i > 0 || body != "" {
			body += "\n"
		}
		body += one
	}
	var b strings.Builder
	b.WriteString(head + " {\n")
	for line := range strings.Lines(body) {
		if line != "\n" {
			b.WriteString("  ")
		}
		b.WriteString(line)
	}
	b.WriteString("}\n")
	return b.String()
}

// attributesOf writes attributes with their equals signs below each other, as terraform fmt does.
func attributesOf(list []attribute) string {
	width := 0
	for _, one := range list {
		width = max(width, len(one.name))
	}
	var b strings.Builder
	for _, one := range list {
		fmt.Fprintf(&b, "%-*s = %s\n", width, one.name, valueOf(one.value))
	}
	return b.String()
}

func valueOf(value any) string {
	switch value := value.(type) {
	case string:
		return literal(value)
	case []string:
		texts := make([]string, len(value))
		for i, one := range value {
			texts[i] = literal(one)
		}
		return "[" + strings.Join(texts, ", ") + "]"
	case bool:
		return fmt.Sprint(value)
	case expression:
		return string(value)
	}
	panic(fmt.Sprintf("why: no value of Terraform for %T", value))
}

// literal writes a text as a quoted template, in which $ and % before a brace begin an expression.
func literal(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, c := range text {
		switch {
		case c == '"' || c == '\\':
			b.WriteRune('\\')
			b.WriteRune(c)
		case (c == '$' || c == '%') && strings.HasPrefix(text[i+1:], "{"):
			b.WriteRune(c)
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
