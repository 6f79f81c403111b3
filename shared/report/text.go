package report

import (
	"fmt"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/orrery/orrery/shared/wording"
)

// TextWidth is the largest number of columns of a line of a report in text.
const TextWidth = 76

// Text returns the report as plain text, in lines of at most TextWidth columns. Only the addresses of links and the
// commands that ask again, which must stay in one piece, may be longer.
func (r Report) Text() []byte {
	w := &textWriter{}
	w.report(r)
	return []byte(w.b.String())
}

func (w *textWriter) report(r Report) {
	w.wrapped("", "ORRERY · "+r.headline()+" · "+w.key(r.Title))
	w.wrapped("", r.Period.Text+" · "+r.Zone)
	if r.Previous != nil {
		w.wrapped("", "compared with "+r.comparedWith())
	}
	if notices := r.Notices(); len(notices) > 0 {
		w.heading("READ THIS FIRST")
		for _, notice := range notices {
			w.wrapped("! ", w.safe(notice))
		}
	}
	w.heading("VERDICT: " + strings.ToUpper(r.Verdict.State.word()))
	for _, s := range r.Verdict.Sentences {
		w.wrapped("", w.safe(s.Text))
		if link := shortLink(s.Link); link != "" {
			w.line(link)
		}
	}
	w.incidents(r)
	w.settings(r)
	w.figures(r)
	w.chart(r)
	for _, s := range r.sections() {
		w.section(s)
	}
	w.examples(r)
	w.heading("ABOUT THIS REPORT")
	about, run := r.facts()
	for _, f := range append(about, run...) {
		w.fact(f)
	}
	if r.Link != "" {
		w.line(r.Link)
	}
}

type textWriter struct {
	b    strings.Builder
	mail bool // addresses and names are not to be taken for links
}

// safe returns a text in which mail programs find no links, for mail.
func (w *textWriter) safe(text string) string {
	if w.mail {
		return bracketed(text)
	}
	return text
}

// key returns a value from the data.
func (w *textWriter) key(value string) string { return w.safe(wording.Shown(value, keyLength)) }

func (w *textWriter) line(text string) { w.b.WriteString(strings.TrimRight(text, " ") + "\n") }

func (w *textWriter) heading(text string) {
	w.line("")
	w.line(text)
	w.line(strings.Repeat("─", TextWidth))
}

// wrapped writes a text in as many lines as it needs. The first begins with a mark, the others with as many spaces.
func (w *textWriter) wrapped(mark, text string) {
	indent := strings.Repeat(" ", columns(mark))
	for _, line := range wrap(text, TextWidth-columns(mark)) {
		w.line(mark + line)
		mark = indent
	}
}

func columns(text string) int { return uniseg.StringWidth(text) }

// wrap breaks a text into lines, between words where it can.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && columns(line)+1+columns(word) <= width {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		for columns(word) > width {
			head := cut(word, width)
			lines, word = append(lines, head), word[len(head):]
		}
		line = word
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// cut returns the longest beginning of a text that has at most so many columns, but at least one character.
func cut(text string, width int) string {
	end, used, state := 0, 0, -1
	for rest := text; rest != ""; {
		var cluster string
		var columns int
		cluster, rest, columns, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if used += columns; used > width && end > 0 {
			return text[:end]
		}
		end += len(cluster)
	}
	return text
}

// padded returns a text with exactly so many columns: cut with an ellipsis, or followed by spaces.
func padded(text string, width int) string {
	if columns(text) > width {
		text = cut(text, width-1) + "…"
	}
	return text + strings.Repeat(" ", max(0, width-columns(text)))
}

// right returns a text with at least so many columns, preceded by spaces.
func right(text string, width int) string {
	return strings.Repeat(" ", max(0, width-columns(text))) + text
}

func (w *textWriter) incidents(r Report) {
	list := r.printed()
	if len(list) == 0 {
		return
	}
	w.heading("INCIDENTS")
	for _, i := range list {
		w.wrapped("· ", w.safe(i.Sentence))
		w.wrapped("  ", w.safe(wording.Shown(i.Details, detailsLength)))
	}
	w.wrapped("", r.furtherIncidents())
}

func (w *textWriter) settings(r Report) {
	if len(r.Marks) == 0 {
		return
	}
	w.heading("CHANGES OF SETTINGS")
	for _, m := range r.latest() {
		when, what := r.change(m)
		w.wrapped("· ", when+": "+w.safe(what))
	}
	w.wrapped("", r.earlierChanges())
}

func (w *textWriter) figures(r Report) {
	w.line("")
	for _, f := range r.shown() {
		line := padded(f.Label, 20) + right(f.value(f.Value), 18)
		if r.covered() {
			line += "   before " + right(f.value(f.Previous), 16)
			if change := f.change(); change != "" {
				line += right(change, 11)
			}
		}
		w.line(line)
	}
}

// barColumns is the length of the longest bar.
const barColumns = 24

func (w *textWriter) chart(r Report) {
	if len(r.Chart.Bars) == 0 || r.Empty() {
		return
	}
	w.heading("REQUESTS PER " + strings.ToUpper(r.Chart.Step))
	most := bothSeries[0].most(r.Chart.Bars)
	head := padded("", 12) + padded("", barColumns) + right("requests", 13)
	if !r.Chart.Undecided {
		head += right("blocked", 12)
	}
	if r.covered() {
		head += right("before", 14)
	}
	w.line(head)
	for _, bar := range r.Chart.Bars {
		line := padded(bar.Label, 12) + padded(blocks(bar.Requests, most, barColumns), barColumns) +
			right(wording.Count(bar.Requests), 13)
		if !r.Chart.Undecided {
			line += right(wording.Count(bar.Blocked), 12)
		}
		if bar.RequestsBefore != nil {
			line += right(wording.Count(*bar.RequestsBefore), 14)
		}
		w.line(line)
	}
	for _, note := range r.Chart.notes() {
		w.wrapped("", note)
	}
}

// blocks draws a number as a bar. A number that is not zero has at least an eighth of a character.
func blocks(n, most int64, width int) string {
	if n <= 0 || most <= 0 {
		return ""
	}
	eighths := max(1, int(float64(n)/float64(most)*float64(width)*8+0.5))
	text := strings.Repeat("█", eighths/8)
	if last := eighths % 8; last > 0 {
		text += string([]rune("▏▎▍▌▋▊▉")[last-1])
	}
	return text
}

func (w *textWriter) section(s section) {
	w.heading(strings.ToUpper(s.Name))
	if len(s.Lists)+len(s.Changes) == 0 {
		w.wrapped("", s.None)
	}
	for _, c := range s.Changes {
		w.wrapped("· ", w.key(c.Field)+" "+w.key(c.Key)+" – "+c.text())
	}
	for i, l := range s.Lists {
		if i > 0 {
			w.line("")
		}
		w.line(l.Title)
		for _, row := range l.Rows {
			note := l.note(row)
			line := "  " + padded(w.key(row.Key), 34) + right(wording.Count(l.count(row)), 12)
			if columns(line)+2+columns(note) <= TextWidth {
				w.line(line + "  " + note)
				continue
			}
			w.line(line)
			w.wrapped("      ", note)
		}
	}
}

func (w *textWriter) examples(r Report) {
	if r.Chart.Undecided {
		return
	}
	w.heading("THE NEWEST BLOCKED REQUESTS")
	if len(r.Examples) == 0 {
		w.wrapped("", r.noRows(Examples, "No request was blocked."))
	}
	for _, e := range r.Examples {
		w.wrapped("· ", fmt.Sprintf("%s  %s  %s", w.safe(optional(e.Local, 40)), w.safe(e.request(keyLength)),
			w.safe(optional(e.Status, 20))))
		w.wrapped("  ", w.safe(strings.Join(e.facts(), ", ")))
	}
}

// fact writes a line of the foot. A command is not wrapped, so that it can be copied.
func (w *textWriter) fact(f fact) {
	const width = 18
	text := wording.Shown(f.Text, 4000)
	if f.Data {
		text = w.safe(text)
	}
	switch {
	case !f.Command:
		w.wrapped(padded(f.Name, width), text)
	case !w.mail:
		w.line(padded(f.Name, width) + f.Text)
	}
}
