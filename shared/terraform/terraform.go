// Package terraform writes blocks in the language of Terraform, laid out as terraform fmt does.
package terraform

import (
	"fmt"
	"strings"
)

// Attribute is an argument of a block. Its value is a string, a []string, a bool, an int64 or an Expression.
type Attribute struct {
	Name  string
	Value any
}

// Set returns an argument of a block.
func Set(name string, value any) Attribute { return Attribute{name, value} }

// Expression is a value that Terraform computes.
type Expression string

// Config is the id of the configuration of the gateway, of which resources are a part.
const Config Expression = "data.link11waap_config.main.id"

// Resource returns the head of the block of a resource. Dashes of its name become underscores.
func Resource(kind, name string) string {
	return fmt.Sprintf("resource %q %q", kind, strings.ReplaceAll(name, "-", "_"))
}

// Block writes a block with its attributes, and then the blocks in it.
func Block(head string, attributes []Attribute, inner ...string) string {
	body := Attributes(attributes)
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

// Attributes writes attributes with their equals signs below each other, as terraform fmt does.
func Attributes(list []Attribute) string {
	width := 0
	for _, one := range list {
		width = max(width, len(one.Name))
	}
	var b strings.Builder
	for _, one := range list {
		fmt.Fprintf(&b, "%-*s = %s\n", width, one.Name, valueOf(one.Value))
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
	case bool, int64:
		return fmt.Sprint(value)
	case Expression:
		return string(value)
	}
	panic(fmt.Sprintf("terraform: no value for %T", value))
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
