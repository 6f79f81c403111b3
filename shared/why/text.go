package why

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/wording"
)

// width is the number of columns of a text.
const width = 100

// Text returns the explanation as plain text for a terminal, in lines of at most 100 columns where words allow it.
// Settings and texts to take along are as they are.
func (e Explanation) Text() string {
	var b strings.Builder
	head := e.Sentence
	if e.Cause != "" {
		head = resultWords[e.Result] + ": " + e.Cause
	}
	b.WriteString(wording.Wrapped(width, "", head) + "\n")
	if e.Cause != "" {
		b.WriteString(wording.Wrapped(width, "", e.Sentence) + "\n")
	}
	b.WriteString(wording.Wrapped(width, "", e.Request))
	b.WriteString(e.Timestamp + "  record " + e.Reference + "\n")
	if len(e.Stages) > 0 {
		b.WriteString("\n" + wording.Wrapped(width, "", stageText(e.Stages)))
	}
	section := func(title string) { b.WriteString("\n" + strings.ToUpper(title) + "\n") }
	if len(e.Matches) > 0 {
		section("Matched")
		for _, m := range e.Matches {
			text := m.Part
			if m.Text != "" {
				text += ": " + m.Text
			}
			b.WriteString(wording.Wrapped(width, "  ", text))
		}
	}
	if v := e.Verdict; v != nil {
		section(v.Text)
		for _, one := range v.Reasons {
			points := "0"
			if one.Points != 0 {
				points = fmt.Sprintf("%+d", one.Points)
			}
			b.WriteString(wording.Wrapped(width, fmt.Sprintf("  %2s  ", points), one.Text))
			b.WriteString(filterText(one.Counts[0].Filter))
		}
	}
	if len(e.Steps) > 0 {
		section("What to do")
		for _, one := range e.Steps {
			b.WriteString(wording.Wrapped(width, "  - ", one.Text))
			if one.Filter != "" {
				b.WriteString(filterText(one.Filter))
			}
		}
	}
	if e.Exemption != nil {
		section("Exemption")
		b.WriteString(wording.Wrapped(width, "  ", e.Exemption.Text))
		for _, c := range e.Exemption.Parts {
			fmt.Fprintf(&b, "\n  To %s, as JSON:\n%s\n  As Terraform:\n%s", c.To, indented(c.JSON), indented(c.Terraform))
		}
	}
	if e.Customer != "" {
		section("Text for the customer")
		b.WriteString(wording.Wrapped(width, "  ", strings.TrimSpace(e.Customer)))
	}
	return b.String()
}

// stageText writes stages as global filter passed > rate limit stopped.
func stageText(stages []Stage) string {
	var list []string
	for _, s := range stages {
		list = append(list, s.Name+" "+s.State)
	}
	return strings.Join(list, " > ")
}

// filterText writes a filter in lines that break between conditions, so that it can be copied.
func filterText(text string) string {
	const space = "      "
	var b strings.Builder
	line := ""
	conditions := filter.ParseQueryString(text).Conditions
	for i, c := range conditions {
		next := c.String()
		if i < len(conditions)-1 {
			next += ","
		}
		switch {
		case line == "":
			line = space + next
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(next) > width:
			b.WriteString(line + "\n")
			line = space + next
		default:
			line += " " + next
		}
	}
	return b.String() + line + "\n"
}

func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line != "\n" {
			b.WriteString("    ")
		}
		b.WriteString(line)
	}
	return b.String()
}
