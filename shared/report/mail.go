package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/wording"
)

//go:embed mail.html.tmpl
var mailPage string

var mailTemplate = template.Must(template.New("mail").Parse(mailPage))

// The limits keep the page of a mail short, because mail programs cut long ones.
const (
	// mailSize is the size of the largest page of a mail in bytes. Above it, rows of lists are left out.
	mailSize = 60_000
	// mailKey is the number of characters of a value in a mail.
	mailKey = 40
	// mailText is the number of characters of other texts with values.
	mailText = 300
	// mailBars is the number of bars of the table beside the picture.
	mailBars = 31
)

// PictureID is the content id by which the HTML of a mail refers to the picture.
const PictureID = "timeline"

// mailView is the data of the template of a mail.
type mailView struct {
	pageView

	Preheader string
	Colour    string // of the verdict
	Rows      [][]figureView
	Bars      []mailBar
	PictureID string
	Height    int // of the picture, at the size at which it is shown
	Alt       string
	LeftOut   string // why rows are left out; "": none are
}

type mailBar struct {
	Label, Requests, Blocked string
	Percent, Rest            int
}

var verdictColours = map[State]string{
	Quiet: "#00735a", QuietLook: "#b8410a", AttackedHeld: "#8a6100", AttackedLook: "#b8410a", Attacked: "#8a6100",
	Look: "#b8410a", Unknown: "#56616c",
}

// Subject returns the subject of a mail: the verdict, the title and the period, and the numbers.
func (r Report) Subject() string {
	text := fmt.Sprintf("%s · %s · %s", r.headline(), wording.Shown(r.Title, mailKey), r.Period.Text)
	requests, blocked := r.Figures[0], r.Figures[1]
	if requests.Value == nil {
		return text
	}
	if blocked.Value == nil {
		return fmt.Sprintf("%s: %s", text, wording.Plural(int64(*requests.Value), "request"))
	}
	number, share := wording.Plural(int64(*requests.Value), "request"), wording.Percent(int64(*blocked.Value), int64(*requests.Value))
	if requests.Previous == nil || *requests.Previous == 0 || requests.Incomparable {
		return fmt.Sprintf("%s: %s, %s blocked", text, number, share)
	}
	return fmt.Sprintf("%s: %s (%s), %s blocked (before %s)", text, number, requests.change(), share,
		wording.Percent(int64(*blocked.Previous), int64(*requests.Previous)))
}

// MailHTML returns the report as the HTML part of a mail: tables, no style sheet that it needs, and the picture by its
// content id. Mail programs do not take the addresses and names in it for links.
func (r Report) MailHTML() []byte {
	v := r.mail()
	text := v.print()
	for n := int64(1); len(text) > mailSize && v.leaveOut(); n++ {
		v.LeftOut = fmt.Sprintf("The mail would be too long with %s of these lists; the attached page has all rows.",
			wording.Plural(n, "further row"))
		text = v.print()
	}
	return text
}

// leaveOut leaves out a row: the last one of the longest list, and if several are that long, the one with the smallest
// share. Every list keeps a row. It returns false if there is none to leave out.
func (v *mailView) leaveOut() bool {
	var from *listView
	for i := range v.Sections {
		for at := range v.Sections[i].Lists {
			l := &v.Sections[i].Lists[at]
			switch n := len(l.Rows); {
			case n < 2:
			case from == nil, n > len(from.Rows), n == len(from.Rows) && l.Rows[n-1].Percent <= from.Rows[n-1].Percent:
				from = l
			}
		}
	}
	if from != nil {
		from.Rows = from.Rows[:len(from.Rows)-1]
	}
	return from != nil
}

func (v *mailView) print() []byte {
	var b bytes.Buffer
	if err := mailTemplate.Execute(&b, v); err != nil {
		panic("report: the template of a mail: " + err.Error()) // it prints only texts and numbers
	}
	return b.Bytes()
}

// mail returns the view of a mail in which all rows fit.
func (r Report) mail() *mailView {
	v := &mailView{
		pageView: r.page(), Colour: verdictColours[r.Verdict.State], PictureID: PictureID, Height: r.Chart.pictureHeight() / 2,
	}
	v.Title = guarded(cutShown(v.Title, mailKey), zeroWidth)
	v.Preheader = guarded(cutShown(append(r.Notices(), r.Verdict.Sentences[0].Text)[0], 150), zeroWidth)
	for i := range v.Sentences {
		v.Sentences[i].Text = guarded(cutShown(v.Sentences[i].Text, mailText), zeroWidth)
		v.Sentences[i].Link = shortLink(v.Sentences[i].Link)
	}
	for i := range v.Incidents {
		of := &v.Incidents[i]
		of.What, of.Details = guarded(cutShown(of.What, 2*mailKey), zeroWidth), guarded(cutShown(of.Details, mailText), zeroWidth)
	}
	for i := range v.Settings {
		v.Settings[i].What = guarded(cutShown(v.Settings[i].What, mailText), zeroWidth)
	}
	v.Link = shortLink(v.Link)
	v.Rows = slices.Collect(slices.Chunk(v.Figures, 2))
	for i := range v.Sections {
		for at := range v.Sections[i].Lists {
			l := &v.Sections[i].Lists[at]
			for j := range l.Rows {
				l.Rows[j].Key = guarded(cutShown(l.Rows[j].Key, mailKey), zeroWidth)
			}
		}
		for at := range v.Sections[i].Changes {
			c := &v.Sections[i].Changes[at]
			c.Field = guarded(cutShown(c.Field, mailKey), zeroWidth)
			c.Key = guarded(cutShown(c.Key, mailKey), zeroWidth)
		}
	}
	for i := range v.Examples {
		e := &v.Examples[i]
		e.Request, e.Status = guarded(cutShown(e.Request, mailKey), zeroWidth), guarded(e.Status, zeroWidth)
		e.Local = guarded(e.Local, zeroWidth)
		for j := range e.Facts {
			e.Facts[j] = guarded(cutShown(e.Facts[j], mailKey), zeroWidth)
		}
	}
	for i := range v.Notices {
		v.Notices[i] = guarded(cutShown(v.Notices[i], mailText), zeroWidth)
	}
	v.About = slices.DeleteFunc(v.About, func(f fact) bool { return f.Command })
	for _, facts := range [][]fact{v.About, v.Run} {
		for i := range facts {
			facts[i].Text = cutShown(facts[i].Text, mailText)
			if facts[i].Data {
				facts[i].Text = guarded(facts[i].Text, zeroWidth)
			}
		}
	}
	if len(v.Charts) > 0 {
		for _, c := range v.Charts {
			v.Alt = strings.TrimSpace(v.Alt + " " + c.Description)
		}
		most := bothSeries[0].most(r.Chart.Bars)
		if n := len(r.Chart.Bars); n > mailBars {
			v.ChartNotes = append(v.ChartNotes, fmt.Sprintf(
				"The table has the first %d of %d bars; the attached page has all of them.", mailBars, n))
		}
		for _, bar := range r.Chart.Bars[:min(len(r.Chart.Bars), mailBars)] {
			percent := share(bar.Requests, most)
			v.Bars = append(v.Bars, mailBar{bar.Label, wording.Count(bar.Requests), wording.Count(bar.Blocked), percent, 100 - percent})
		}
	}
	return v
}

// cutShown cuts a text that is already safe to show.
func cutShown(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return string([]rune(text)[:limit-1]) + "…"
}

// zeroWidth is a character without width. It keeps mail programs from turning the text around it into a link.
const zeroWidth = "\u200b"

// The texts that mail programs turn into links: words with dots, such as addresses and names of hosts, words with a
// colon right before another character, such as mailto:, addresses of mail, and paths of Windows networks.
var (
	named   = regexp.MustCompile(`[\pL\pN\pM_-]+(?:\.[\pL\pN\pM_-]+)+`)
	schemed = regexp.MustCompile(`\b[A-Za-z][A-Za-z0-9.+-]*:`)
	shares  = regexp.MustCompile(`\\\\+`)
	hextet  = regexp.MustCompile(`^[0-9A-Fa-f]{1,4}:$`) // of an address
	decimal = regexp.MustCompile(`^[0-9]+\.[0-9]+$`)
	address = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+$`)
)

// guarded returns a text with a guard after each character that would make mail programs see a link.
func guarded(text, guard string) string {
	text = named.ReplaceAllStringFunc(text, func(word string) string {
		if decimal.MatchString(word) {
			return word
		}
		return strings.ReplaceAll(word, ".", "."+guard)
	})
	text = colons(text, ":"+guard)
	text = shares.ReplaceAllStringFunc(text, func(all string) string { return strings.Join(strings.Split(all, ""), guard) })
	return strings.ReplaceAll(text, "@", "@"+guard)
}

// colons replaces the colons of schemes. These follow a word and stand right before another character, and are not in
// an IPv6 address.
func colons(text, by string) string {
	var b strings.Builder
	end := 0
	for _, m := range schemed.FindAllStringIndex(text, -1) {
		if m[1] == len(text) || strings.ContainsRune(" :", rune(text[m[1]])) || hextet.MatchString(text[m[0]:m[1]]) {
			continue
		}
		b.WriteString(text[end:m[1]-1] + by)
		end = m[1]
	}
	return b.String() + text[end:]
}

// MailText returns the report as the text part of a mail: addresses and names are written like 203.0.113[.]7, so that
// mail programs do not take them for links.
func (r Report) MailText() []byte {
	w := &textWriter{mail: true}
	w.report(r)
	return []byte(w.b.String())
}

// bracketed returns a text with brackets around the characters that would make mail programs see a link. In an address
// of four numbers, only the last dot gets brackets, because three numbers are no link.
func bracketed(text string) string {
	text = named.ReplaceAllStringFunc(text, func(word string) string {
		if decimal.MatchString(word) {
			return word
		}
		if address.MatchString(word) {
			last := strings.LastIndexByte(word, '.')
			return word[:last] + "[.]" + word[last+1:]
		}
		return strings.ReplaceAll(word, ".", "[.]")
	})
	text = colons(text, "[:]")
	text = shares.ReplaceAllString(text, "[$0]")
	return strings.ReplaceAll(text, "@", "[@]")
}
