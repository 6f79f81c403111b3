package delivery

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/report"
	"github.com/orrery/orrery/shared/report/destination"
)

// slackDocument is what Slack reads of a message.
type slackDocument struct {
	Text        string         `json:"text"`
	UnfurlLinks *bool          `json:"unfurl_links"`
	UnfurlMedia *bool          `json:"unfurl_media"`
	Blocks      []slackSection `json:"blocks"`
}

func readSlack(t *testing.T, body []byte) slackDocument {
	t.Helper()
	var d slackDocument
	if err := json.Unmarshal(body, &d); err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	return d
}

func TestSlack(t *testing.T) {
	h := startHook(t)
	if err := h.deliver(t.Context(), destination.Slack{URL: secret(t, h.url)}); err != nil {
		t.Fatal(err)
	}
	if got := h.asked[0].Header.Get("Content-Type"); got != "application/json" {
		t.Error(got)
	}
	d := readSlack(t, h.body)
	r := model("Daily")
	if d.Text != "unknown: Daily" || *d.UnfurlLinks || *d.UnfurlMedia || d.Blocks[0].Text.Text[:4] != "```\n" {
		t.Errorf("%s", h.body)
	}
	if got := plain(t, d); got != string(r.Text()) {
		t.Errorf("the text differs (-want +got):\n%s", cmp.Diff(string(r.Text()), got))
	}
	last := d.Blocks[len(d.Blocks)-1].Text.Text
	if last != "<"+strings.ReplaceAll(r.Link, "&", "&amp;")+"|Open it in the console>" {
		t.Errorf("the last block is %s", last)
	}
}

// TestSlackMessage shows a whole message.
func TestSlackMessage(t *testing.T) {
	m := message{text: "ORRERY · <b> & `c` ```d```\nlast line", document: report.Document{Report: report.Report{
		Title: "A <b>\n&  c", Link: "https://orrery.example/#/?f=a&t=b|c>",
		Verdict: report.Verdict{State: report.AttackedLook, Sentences: []report.Sentence{
			{Rule: "many blocked", Text: "Many.", Link: "https://orrery.example/#/events?f=b|>"}, {Text: "It has no link."},
			{Rule: "one rule", Text: "It has a long link.",
				Link: "https://orrery.example/#/" + strings.Repeat("f", sentenceLength)},
		}},
	}}}
	got, err := slackMessage(m)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"text":"attacked, look: A &lt;b&gt; &amp; c","unfurl_links":false,"unfurl_media":false,"blocks":[` +
		"{\"type\":\"section\",\"text\":{\"type\":\"mrkdwn\",\"text\":\"```\\nORRERY · &lt;b&gt; &amp; `c` '''d'''\\nlast line\\n```\",\"verbatim\":true}}," +
		`{"type":"section","text":{"type":"mrkdwn",` +
		`"text":"<https://orrery.example/#/events?f=b%7C%3E|Show the requests: many blocked>","verbatim":true}},` +
		`{"type":"section","text":{"type":"mrkdwn","text":"<https://orrery.example/#/?f=a&amp;t=b%7Cc%3E|Open it in the console>","verbatim":true}}]}` + "\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// plain returns the text of the blocks of code, and checks that nothing in them has a meaning in Slack's markup.
func plain(t *testing.T, d slackDocument) string {
	t.Helper()
	var b strings.Builder
	for _, block := range d.Blocks {
		text := block.Text.Text
		if block.Type != "section" || block.Text.Type != "mrkdwn" || !block.Text.Verbatim {
			t.Errorf("%+v", block)
		}
		if n := len(utf16.Encode([]rune(text))); n > 3000 {
			t.Errorf("a section has %d characters", n)
		}
		inside, ok := strings.CutPrefix(text, "```\n")
		if !ok {
			continue
		}
		inside = strings.TrimSuffix(inside, "```")
		if strings.Contains(inside, "```") || strings.ContainsAny(inside, "<>") || badAmpersand.MatchString(inside) {
			t.Errorf("markup in %q", inside)
		}
		b.WriteString(strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(inside))
	}
	return b.String()
}

var badAmpersand = regexp.MustCompile(`&(?:$|[^lga]|l[^t]|g[^t]|a[^m])`)

// TestHostileTextsInSlack: no value of the data becomes a link or a mention, or ends the block of code.
func TestHostileTextsInSlack(t *testing.T) {
	for rule, text := range map[string]string{
		"mentions":               "<!channel> <!here|x> <@U012AB3CD> <#C012AB3CD> @channel\n",
		"links":                  "<https://evil.example|shop.example> https://evil.example\n",
		"the end of the code":    "```\n<!channel>\n```` *bold* _it_\n",
		"many backticks":         strings.Repeat("`", 7000) + "\n",
		"entities":               "&lt;!channel&gt; &amp;lt; &#60;\n",
		"a long line":            strings.Repeat("<&>", 20_000) + "\n",
		"wide characters":        strings.Repeat("😀𝕏", 8_000) + "\n",
		"no text":                "",
		"bytes that are no text": "\xff\xfe<\xff\n",
		"long lines":             strings.Repeat(strings.Repeat("<", 700)+"\n", 100),
		"a line of the limit":    strings.Repeat("x", sectionLength) + "\n" + strings.Repeat("y", sectionLength-1) + "\n",
	} {
		t.Run(rule, func(t *testing.T) {
			m := message{text: text, document: report.Document{Report: report.Report{Title: text, Link: "https://a.example/#/?f=" + text}}}
			for range 3 {
				m.document.Report.Verdict.Sentences = append(m.document.Report.Verdict.Sentences, report.Sentence{
					Rule: "blocked humans", Link: "https://a.example/#/" + strings.Repeat("x", sentenceLength-21),
				})
			}
			body, err := slackMessage(m)
			if err != nil {
				t.Fatal(err)
			}
			d := readSlack(t, body)
			got := plain(t, d)
			total := 0
			for _, block := range d.Blocks {
				total += len(utf16.Encode([]rune(block.Text.Text)))
			}
			if strings.ContainsAny(d.Text, "<>") || total > 11_000 || len(d.Blocks) > mostSections+5 {
				t.Errorf("%.80q, %d characters, %d blocks", d.Text, total, len(d.Blocks))
			}
			want := strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "```", "'''")
			unbroken := func(text string) string { return strings.ReplaceAll(text, "\n", "") }
			if got := unbroken(got); !strings.HasPrefix(unbroken(want), got) ||
				got != unbroken(want) && !strings.Contains(string(body), "longer than a message can be") {
				t.Errorf("the text is not the beginning of the report, or it is cut without a notice: %.200q", got)
			}
		})
	}
}

func FuzzSlackMessage(f *testing.F) {
	f.Add("a <!channel> ``` & b\n", "title")
	f.Fuzz(func(t *testing.T, text, title string) {
		body, err := slackMessage(message{text: text, document: report.Document{Report: report.Report{Title: title, Link: "https://a.example/" + title}}})
		if err != nil {
			t.Fatal(err)
		}
		d := readSlack(t, body)
		plain(t, d)
		for _, block := range d.Blocks {
			if strings.Count(block.Text.Text, "<") > 1 || strings.Contains(d.Text, "<") {
				t.Errorf("%s", body)
			}
		}
	})
}

func TestTopicMessage(t *testing.T) {
	document := report.Document{
		Report: report.Report{Verdict: report.Verdict{State: report.AttackedHeld}},
		Run:    report.Run{Scheduled: &report.Scheduled{ID: "3f1c0a9b", Config: "prod", Report: "weekly"}},
	}
	want := Message{
		Subject: "Orrery: attacked, held (prod/weekly)", Text: "ORRERY · a\n",
		Attributes: map[string]string{"run": "3f1c0a9b", "config": "prod", "report": "weekly", "verdict": "attacked, held"},
	}
	if diff := cmp.Diff(want, topicMessage(message{"ORRERY · a\n", document})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	document.Run.Scheduled = &report.Scheduled{Config: strings.Repeat("c", 64), Report: strings.Repeat("r", 64)}
	got := topicMessage(message{strings.Repeat("·", 200_000), document})
	size := len(got.Text)
	for name, value := range got.Attributes {
		size += len(name) + len(value) + len("String")
		if value == "" {
			t.Errorf("the attribute %s is empty", name)
		}
	}
	if len(got.Subject) != subjectLength || size > 256<<10 || strings.ToValidUTF8(got.Text, "") != got.Text ||
		!strings.HasSuffix(got.Text, "longer than a message can be.\n") {
		t.Errorf("a subject of %d bytes, %d bytes in all, which end with %q", len(got.Subject), size, got.Text[len(got.Text)-60:])
	}
}
