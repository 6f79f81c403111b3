package delivery

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf16"

	"github.com/orrery/orrery/shared/report/destination"
	"github.com/orrery/orrery/shared/report/runs"
)

// slack posts the report as text.
func (s Sender) slack(ctx context.Context, to destination.Slack, files []runs.File) error {
	m, err := messageOf(files)
	if err != nil {
		return err
	}
	body, err := slackMessage(m)
	if err != nil {
		return err
	}
	return s.post(ctx, request{
		to: "Slack", url: to.URL, body: body,
		header: http.Header{"Content-Type": {"application/json"}, "User-Agent": {"orrery"}},
	})
}

// Slack refuses sections of more than 3,000 characters, and messages of more than about 11,000.
const (
	sectionLength  = 2900 // without the marks of a block of code
	mostSections   = 3
	linkLength     = 1000 // of the link to the console
	sentenceLength = 300  // of the link of a sentence
)

// slackText is a text of Slack's markup.
type slackText struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Verbatim bool   `json:"verbatim"` // makes no links of names and addresses
}

type slackSection struct {
	Type string    `json:"type"`
	Text slackText `json:"text"`
}

func section(text string) slackSection {
	return slackSection{"section", slackText{"mrkdwn", text, true}}
}

// slackMessage returns the message about a report: its text in blocks of code, in which Slack makes no links, and links
// to the requests of the verdict's sentences and to the console.
func slackMessage(m message) ([]byte, error) {
	r := m.document.Report
	pieces, all := slackPieces(m.text)
	var blocks []slackSection
	for _, piece := range pieces {
		blocks = append(blocks, section("```\n"+piece+"```"))
	}
	if !all {
		blocks = append(blocks, section("The report is longer than a message can be."))
	}
	link := func(address, text string, limit int) {
		if address = slackLink.Replace(address); address != "" && len(address) <= limit {
			blocks = append(blocks, section("<"+address+"|"+text+">"))
		}
	}
	for _, s := range r.Verdict.Sentences {
		text := "Show the requests"
		if s.Rule != "" {
			text += ": " + slackEscape.Replace(s.Rule)
		}
		link(s.Link, text, sentenceLength)
	}
	link(r.Link, "Open it in the console", linkLength)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(struct {
		Text        string         `json:"text"` // of the notification
		UnfurlLinks bool           `json:"unfurl_links"`
		UnfurlMedia bool           `json:"unfurl_media"`
		Blocks      []slackSection `json:"blocks"`
	}{
		Text:   slackEscape.Replace(fmt.Sprintf("%s: %s", r.Verdict.State, strings.Join(strings.Fields(r.Title), " "))),
		Blocks: blocks,
	})
	return b.Bytes(), err
}

// Slack's markup gives a meaning to these characters only. Without them there are no links and no mentions, such as
// <!channel>.
var (
	slackEscape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	slackLink   = strings.NewReplacer("&", "&amp;", "<", "%3C", ">", "%3E", "|", "%7C", " ", "%20", "\n", "")
)

// slackPieces returns a text in escaped pieces that fit into sections, and whether it is complete. Pieces end with a
// line, unless a line is longer than a section. No piece ends the block of code that it is in.
func slackPieces(text string) (pieces []string, all bool) {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "```", "'''")
	piece, length := "", 0
	for _, line := range strings.SplitAfter(text, "\n") {
		for line != "" {
			head, n := slackHead(line)
			line = line[len(head):]
			if length+n > sectionLength {
				if pieces = append(pieces, withNewline(piece)); len(pieces) == mostSections {
					return pieces, false
				}
				piece, length = "", 0
			}
			piece, length = piece+slackEscape.Replace(head), length+n
		}
	}
	if piece != "" {
		pieces = append(pieces, withNewline(piece))
	}
	return pieces, true
}

// slackHead returns the longest beginning of a line that fits into a section when it is escaped, and its length there.
func slackHead(line string) (head string, length int) {
	for i, r := range line {
		n := 0
		for _, c := range slackEscape.Replace(string(r)) {
			n += max(1, utf16.RuneLen(c))
		}
		if length+n > sectionLength {
			return line[:i], length
		}
		length += n
	}
	return line, length
}

func withNewline(piece string) string { return strings.TrimSuffix(piece, "\n") + "\n" }
