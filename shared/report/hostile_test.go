package report

import (
	"encoding/csv"
	"encoding/json"
	"html"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/wording"
)

// FuzzHostile puts a value into every place that values of the data have in a report. No tag, link or formula of it
// survives, and no character that changes the order of the text.
func FuzzHostile(f *testing.F) {
	for _, seed := range []string{
		"", "shop.example/login", strings.Repeat("shop.example/", 80), strings.Repeat("<b>&\"'`=", 120),
		"<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "'><svg/onload=alert(1)>", "</style><b>", "</title>",
		"javascript:alert(1)", "data:text/html,<b>", "vbscript:x", "https://evil.example/", "//evil.example", "{{.Title}}",
		`=HYPERLINK("https://evil.example")`, "+1", "-1", "@SUM(A1)", "\t=1", "\r\n=1", "\n@x", "a,\"b\"\n=c",
		"\u202egpj.exe", "\u2066x\u2069", "\u200f\u05e9\u05dc\u05d5\u05dd", "\u0627\u0644", "\u200b\ufeff", "\x00\x1b[31m",
		"\xff\xfe", "a\u0301\u0301\u0301", "👩‍👩‍👧‍👦", "日本語の検索", "%3Cscript%3E", "a&#60;b", "203.0.113.7", "3.14",
		"mailto:a@b", `\\evil\share`, "tel:+1", "a.b.c.example", strings.Repeat("a.b/", 256), "<!--", "-->", "]]>", "<?xml", "width:100%;background:url(x)", "$(x)", "`x`",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		s := settingOf(t)
		s.Title = value
		s.Conditions = filter.Joined(s.Conditions, equals("path", value))
		all := sample{value, value, value, value, value, value, value, value}
		answers := all.answers(t, s)
		answers[MonitorReasons] = Answer{Reason: value}
		example := object{}
		for name := range strings.SplitSeq(exampleFields, ",") {
			example[name] = value
		}
		answers[Examples] = answerOf(t, []object{example}, nil)
		r := New(s, answers)
		r.Run.Skipped = []string{value}
		checkForms(t.Errorf, r)
		checkForms(t.Errorf, modelOf(t, value))
	})
}

// checkForms applies the checks of this file to all forms of a report.
func checkForms(fail failure, r Report) {
	checkHTML(fail, pageNames, string(r.HTML()))
	checkHTML(fail, mailNames, string(r.MailHTML()))
	checkText(fail, string(r.Text()))
	checkText(fail, string(r.MailText()))
	checkNoLinks(fail, string(r.MailText()))
	checkNoLinks(fail, html.UnescapeString(tagPattern.ReplaceAllString(string(r.MailHTML()), " ")))
	checkCSV(fail, string(r.CSV()))
	if !json.Valid(r.JSON()) {
		fail("the JSON is invalid")
	}
	if subject := r.Subject(); strings.ContainsAny(subject, "\r\n") {
		fail("subject %q", subject)
	}
	if n := len(r.MailHTML()); n > mailSize {
		fail("the mail has %d bytes", n)
	}
}

// foreign lists the texts of a report that come from its setting or from the data.
var foreign = []string{
	"Report.Title", "Report.Filter", "Row.Key", "Row.Condition", "Change.Field", "Change.Key", "Change.Condition",
	"Record.Time", "Record.Local", "Record.IP", "Record.Country", "Record.Method", "Record.Target", "Record.Status",
	"Record.Reason", "Record.Cause", "Record.ID", "Failed.Reason", "Run.Skipped", "IncidentResult.Target",
	"IncidentResult.Host", "IncidentResult.Path", "IncidentResult.Details", "IncidentResult.Filter", "IncidentValue.Value",
	"Mark.Before", "Mark.After", "Mark.Config", "Mark.By",
}

// own lists the other texts: they are constants, times and names of this program, or are built of foreign texts that
// are already safe to show.
var own = []string{
	"Report.Template", "Report.Fingerprint", "Report.Zone", "Report.Link", "Span.From", "Span.To", "Span.Text",
	"Verdict.State", "Sentence.Rule", "Sentence.Text", "Sentence.Link", "Figure.ID", "Figure.Label", "Figure.Unit",
	"Chart.Step", "Bar.From",
	"Bar.Label", "List.Title", "List.Field", "Row.Link", "Change.Kind", "Change.Link", "Record.Link", "Failed.Part",
	"Mark.At", "Mark.Kind", "IncidentResult.ID", "IncidentResult.Kind", "IncidentResult.Begin", "IncidentResult.End", "IncidentResult.Sentence",
	"IncidentResult.Why", "IncidentHeld.State", "IncidentHeld.Sentence", "Incident.Link",
	"Run.Complete", "Run.Newest", "Scheduled.ID", "Scheduled.Config", "Scheduled.Report",
}

// modelOf returns a report in which every foreign text is value. A text of a report that is in neither list fails the
// test.
func modelOf(t *testing.T, value string) Report {
	t.Helper()
	r := reportOf(t, ordinary)
	r.Failed, r.Run.Skipped = []Failed{{Part: Examples}}, []string{""}
	var fill func(name string, v reflect.Value)
	fill = func(name string, v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			switch {
			case slices.Contains(foreign, name):
				v.SetString(value)
			case !slices.Contains(own, name):
				t.Fatalf("add the text %s to one of the lists", name)
			}
		case reflect.Pointer:
			if v.IsNil() {
				fill(name, reflect.New(v.Type().Elem()).Elem()) // only to find its texts
				return
			}
			fill(name, v.Elem())
		case reflect.Slice:
			if v.Len() == 0 {
				fill(name, reflect.New(v.Type().Elem()).Elem())
			}
			for i := range v.Len() {
				fill(name, v.Index(i))
			}
		case reflect.Struct:
			for i := range v.NumField() {
				if f := v.Type().Field(i); f.IsExported() {
					fill(v.Type().Name()+"."+f.Name, v.Field(i))
				}
			}
		}
	}
	fill("Report", reflect.ValueOf(&r).Elem())
	return r
}

// TestEveryTextIsHostile: modelOf replaces every foreign text, and the report shows each of them.
func TestEveryTextIsHostile(t *testing.T) {
	const value = "hostile<b>"
	r := modelOf(t, value)
	document := string(r.JSON())
	if n := strings.Count(document, value); n < 60 {
		t.Errorf("only %d texts are hostile", n)
	}
	if r.Changes[4].Key != value || r.Examples[1].IP != value || r.Passed[4].Rows[0].Key != value ||
		r.Failed[0].Reason != value {
		t.Errorf("%s", document)
	}
	checkForms(t.Errorf, r)
}

var (
	tagPattern       = regexp.MustCompile(`<[^>]*>`)
	strictTag        = regexp.MustCompile(`^</?([a-z0-9]+|!doctype)((?: [a-zA-Z-]+(?:="[^"<>]*")?)*)/?>$`)
	attributePattern = regexp.MustCompile(` ([a-zA-Z-]+)(?:="([^"]*)")?`)
	actionPattern    = regexp.MustCompile(`\{\{[^}]*\}\}`)
	stylePattern     = regexp.MustCompile(`(?s)<style>.*?</style>`)
)

// The names of the tags and attributes of the templates.
var pageNames, mailNames = namesOf(page), namesOf(mailPage)

// namesOf returns the names of the tags and attributes of a template.
func namesOf(template string) map[string]bool {
	names := map[string]bool{}
	template = actionPattern.ReplaceAllString(stylePattern.ReplaceAllString(template, ""), "")
	for _, tag := range tagPattern.FindAllString(template, -1) {
		m := strictTag.FindStringSubmatch(tag)
		if m == nil {
			panic("the template has the tag " + tag)
		}
		names[m[1]] = true
		for _, a := range attributePattern.FindAllStringSubmatch(m[2], -1) {
			names[a[1]+"="] = true
		}
	}
	return names
}

// failure reports a failure of a check, as testing.T.Errorf does.
type failure func(format string, args ...any)

// checkHTML reports tags and attributes other than the known ones, and links that are not of the console.
func checkHTML(fail failure, known map[string]bool, text string) {
	if len(stylePattern.FindAllString(text, -1)) != 1 {
		fail("there is not one style sheet")
	}
	text = stylePattern.ReplaceAllString(text, "")
	for _, tag := range tagPattern.FindAllString(text, -1) {
		m := strictTag.FindStringSubmatch(tag)
		if m == nil || !known[m[1]] {
			fail("tag %s", tag)
			continue
		}
		for _, a := range attributePattern.FindAllStringSubmatch(m[2], -1) {
			if !known[a[1]+"="] {
				fail("attribute %s of %s", a[1], tag)
			}
			own := strings.HasPrefix(a[2], "https://orrery.example/console/#/")
			if a[1] == "href" && !own || a[1] == "src" && a[2] != "cid:"+PictureID {
				fail("link %s", tag)
			}
		}
	}
	rest := tagPattern.ReplaceAllString(text, "")
	if strings.ContainsAny(rest, "<>") {
		fail("a part of a tag is left in %q", rest)
	}
	checkCharacters(fail, strings.ReplaceAll(rest, zeroWidth, ""))
}

// checkCharacters reports characters that are invisible or change the order of a text.
func checkCharacters(fail failure, text string) {
	if !utf8.ValidString(text) {
		fail("the text is not UTF-8")
	}
	for _, r := range text {
		if r != '\n' && !unicode.IsPrint(r) && r != '\u00a0' {
			fail("character %U", r)
		}
	}
}

// linked matches texts that mail programs turn into links.
var linked = regexp.MustCompile(`(?i)[\pL\pN]\.[\pL][\pL\pN-]|://|\b(?:javascript|vbscript|mailto|data|tel|file):[^\s:\x{200b}]|[\pL\pN]@[\pL\pN]|\\\\[\pL\pN]`)

// checkNoLinks reports texts that mail programs turn into links, apart from links to the console, which are on lines of
// their own.
func checkNoLinks(fail failure, text string) {
	for line := range strings.Lines(stylePattern.ReplaceAllString(text, "")) {
		if found := linked.FindString(line); found != "" && !strings.HasPrefix(line, "https://orrery.example/console/#/") {
			fail("a link %q in %q", found, line)
		}
	}
}

// checkText reports characters as checkCharacters, and lines that are too long.
func checkText(fail failure, text string) {
	checkCharacters(fail, text)
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		whole := strings.HasPrefix(line, "Ask again ") || strings.HasPrefix(line, "With curl ") ||
			strings.HasPrefix(line, "https://orrery.example/console/#/")
		if n := columns(line); n > TextWidth && !whole {
			fail("a line of %d columns: %s", n, line)
		}
	}
}

// checkCSV reports rows that are not in the table, and cells that are formulas.
func checkCSV(fail failure, text string) {
	reader := csv.NewReader(strings.NewReader(text))
	rows, err := reader.ReadAll()
	if err != nil {
		fail("%v", err)
		return
	}
	for _, row := range rows[1:] {
		for i, cell := range row {
			number := i == 3 || i == 4
			if cell != "" && strings.IndexByte("=+-@\t\r\n", cell[0]) >= 0 && !number {
				fail("cell %q", cell)
			}
		}
	}
}

// TestHostileGoldenIsSafe applies the checks of FuzzHostile to a report with a different hostile value in each place.
func TestHostileGoldenIsSafe(t *testing.T) {
	r := reportOf(t, hostile)
	checkHTML(t.Errorf, pageNames, string(r.HTML()))
	checkHTML(t.Errorf, mailNames, string(r.MailHTML()))
	checkText(t.Errorf, string(r.Text()))
	checkCSV(t.Errorf, string(r.CSV()))
	checkNoLinks(t.Errorf, string(r.MailText()))
}

// TestChecksFindWhatTheyLookFor: the checks of this file are able to fail.
func TestChecksFindWhatTheyLookFor(t *testing.T) {
	good := string(reportOf(t, ordinary).HTML())
	for rule, bad := range map[string]string{
		"a tag":           "<iframe>",
		"an attribute":    `<b onclick="x">`,
		"a link":          `<a href="javascript:x">`,
		"a foreign link":  `<a href="https://evil.example/">`,
		"an open tag":     "<",
		"a reversed text": "\u202e",
	} {
		t.Run(rule, func(t *testing.T) {
			failed := false
			checkHTML(func(string, ...any) { failed = true }, pageNames, strings.Replace(good, "</main>", bad+"</main>", 1))
			if !failed {
				t.Errorf("the check accepts %s", bad)
			}
		})
	}
	for rule, bad := range map[string]string{"a long line": strings.Repeat("x", 77), "an escape": "\x1b[31m"} {
		t.Run(rule, func(t *testing.T) {
			failed := false
			if checkText(func(string, ...any) { failed = true }, bad); !failed {
				t.Errorf("the check accepts %q", bad)
			}
		})
	}
}

func TestShown(t *testing.T) {
	for _, test := range []struct{ rule, value, want string }{
		{"text stays", "shop.example/ä?q=日本", "shop.example/ä?q=日本"},
		{"spaces stay", "a b", "a b"},
		{"empty values are visible", "", "(empty)"},
		{"controls are escaped", "a\x1b\n", `a\u001b\u000a`},
		{"bidirectional controls are escaped", "a\u202eb", `a\u202eb`},
		{"characters without width are escaped", "a\u200bb", `a\u200bb`},
		{"invalid UTF-8 is escaped", "a\xffb", `a\xffb`},
		{"replacement characters stay", "a\ufffdb", "a\ufffdb"},
		{"as long as allowed", strings.Repeat("ä", 30), strings.Repeat("ä", 30)},
		{"a longer value is cut and ends with its hash", strings.Repeat("ä", 31), strings.Repeat("ä", 21) + "…af5af882"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			if got := wording.Shown(test.value, 30); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestNumbers(t *testing.T) {
	for want, got := range map[string]string{
		"0": wording.Count(0), "999": wording.Count(999), "1,000": wording.Count(1000), "−1,234,567": wording.Count(-1_234_567),
		"0 %": wording.Percent(0, 10), "0  %": wording.Percent(0, 0) + "", "< 0.1 %": wording.Percent(1, 10_000), "> 99.9 %": wording.Percent(9999, 10_000),
		"33.3 %": wording.Percent(1, 3), "100 %": wording.Percent(3, 3), "3.2": factor(3.2), "12": factor(12),
		"999 B": byteCount(999), "1.0 kB": byteCount(1000), "2.5 GB": byteCount(2.5e9),
		"0 ms": seconds(0), "0.50 ms": seconds(0.0005), "150 ms": seconds(0.15), "1.50 s": seconds(1.5),
		"as before": difference(3, 3), "was 0": difference(3, 0), "+50 %": difference(3, 2), "−33 %": difference(2, 3),
		"× 10": difference(30, 3), "+ < 1 %": difference(1001, 1000), "− < 1 %": difference(999, 1000), "−100 %": difference(0, 5),
	} {
		if want = strings.ReplaceAll(want, "0  %", "0 %"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestGuards(t *testing.T) {
	for value, want := range map[string]string{
		"203.0.113.7 of 3.5 %": "203.0.113[.]7 of 3.5 %", "https://shop.example/a.b": "https[:]//shop[.]example/a[.]b",
		"no dots.": "no dots.", "ä.example": "ä[.]example", "a.com.evil.example.": "a[.]com[.]evil[.]example.",
		"javascript:alert(1)": "javascript[:]alert(1)", "mailto:a@b": "mailto[:]a[@]b", `\\evil\share`: `[\\]evil\share`,
		"2a08:78ce::ab:1": "2a08:78ce::ab:1", "acl1: scanner, Sun 23:59:58": "acl1: scanner, Sun 23:59:58",
		"e\u0301.example": "e\u0301[.]example", "tel:+4912345": "tel[:]+4912345", "data:xdata:x": "data[:]xdata[:]x", "1.2.3.4.5": "1[.]2[.]3[.]4[.]5",
	} {
		if got := bracketed(value); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got, want := guarded(`a.b.c 1.5 data:x x@y \\z`, "|"), `a.|b.|c 1.5 data:|x x@|y \|\z`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
