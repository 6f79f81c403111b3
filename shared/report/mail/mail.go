// Package mail writes a report as a mail: the figures as text and as HTML with one picture, and the whole report as
// attached files.
//
//	multipart/mixed
//	├ multipart/related
//	│  ├ multipart/alternative
//	│  │  ├ text/plain
//	│  │  └ text/html
//	│  └ image/png, the chart
//	├ text/html, the page
//	└ text/csv, the numbers
package mail

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"time"

	mime "github.com/wneessen/go-mail"

	"github.com/orrery/orrery/shared/report"
	"github.com/orrery/orrery/shared/report/definition"
)

// DefaultSender is the sender of a mail that names none, such as a draft.
const DefaultSender = "Orrery <orrery@localhost>"

// Envelope has the settings of a mail besides the report.
type Envelope struct {
	From string   // "Orrery <orrery@example.com>"; "": DefaultSender
	To   []string // may be empty: the mail is a draft
	Date time.Time
	Run  string // id of the run, for the header X-Orrery-Run; "": there is none

	Unsubscribe string // URL, from Unsubscribe, for the header List-Unsubscribe; "": there is none
}

// Write returns the mail with a report. The same report and envelope give the same bytes.
func Write(r report.Report, e Envelope) ([]byte, error) {
	text, page, picture := r.MailText(), r.MailHTML(), r.Chart.Picture()
	attached, table := r.HTML(), r.CSV()
	id := sha256.Sum256(bytes.Join([][]byte{text, page, picture, attached, table, []byte(e.Run)}, nil))

	m := mime.NewMsg(mime.WithNoDefaultUserAgent())
	if err := m.From(cmp.Or(e.From, DefaultSender)); err != nil {
		return nil, fmt.Errorf("the sender %q: %w", e.From, err)
	}
	if len(e.To) > 0 {
		to := make([]string, len(e.To))
		for i, address := range e.To {
			to[i] = definition.LowerDomain(address)
		}
		if err := m.To(to...); err != nil {
			return nil, fmt.Errorf("the receivers %q: %w", e.To, err)
		}
	}
	m.Subject(r.Subject())
	m.SetDateWithValue(e.Date)
	m.SetMessageIDWithValue(fmt.Sprintf("%x@orrery.invalid", id[:16]))
	m.SetGenHeader("Auto-Submitted", "auto-generated")
	if e.Run != "" {
		m.SetGenHeader("X-Orrery-Run", e.Run)
	}
	if e.Unsubscribe != "" {
		m.SetGenHeader(mime.HeaderListUnsubscribe, "<"+e.Unsubscribe+">")
	}
	m.SetBodyString(mime.TypeTextPlain, string(text))
	m.AddAlternativeString(mime.TypeTextHTML, string(page))
	name := r.FileName()
	if len(r.Chart.Bars) > 0 {
		err := m.EmbedReader(name+".png", bytes.NewReader(picture), mime.WithFileContentID("<"+report.PictureID+">"),
			mime.WithFileContentType("image/png"))
		if err != nil {
			return nil, fmt.Errorf("add the picture: %w", err)
		}
	}
	for _, file := range []struct {
		extension, mediaType string
		content              []byte
	}{{".html", "text/html; charset=utf-8", attached}, {".csv", "text/csv; charset=utf-8", table}} {
		err := m.AttachReader(name+file.extension, bytes.NewReader(file.content),
			mime.WithFileContentType(mime.ContentType(file.mediaType)))
		if err != nil {
			return nil, fmt.Errorf("attach the file %s: %w", name+file.extension, err)
		}
	}
	var b bytes.Buffer
	if _, err := m.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("write the mail: %w", err)
	}
	return withBoundaries(b.Bytes(), id[:])
}
