package mail

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image/png"
	"io"
	"mime"
	"mime/multipart"
	netmail "net/mail"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/report"
	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/delivery"
	"github.com/orrery/orrery/shared/report/delivery/deliverytest"
	"github.com/orrery/orrery/shared/report/destination"
	"github.com/orrery/orrery/shared/report/runs"
)

// weekly returns a report about a week.
func weekly(t *testing.T, title, key string) report.Report {
	t.Helper()
	s := report.Setting{
		Title: title, Template: report.Traffic, Zone: time.UTC,
		Period: report.Week.Last(time.Date(2026, 11, 23, 7, 0, 0, 0, time.UTC)),
	}
	var segments []map[string]any
	for ms := s.Period.FromMs; ms <= s.Period.ToMs; ms += 3_600_000 {
		hour := (ms - s.Period.FromMs) / 3_600_000
		segments = append(segments, map[string]any{
			"time_period": ms / 1000, "num_of_requests": 100 + hour*7%90, "num_of_blocked_requests": hour % 9,
		})
	}
	answers := map[report.Part]report.Answer{}
	for _, q := range s.Questions() {
		answers[q.Part] = answer(t, []string{})
	}
	answers[report.Timeline] = answer(t, segments)
	answers[report.Top] = answer(t, []map[string]any{
		{"label": "ip", "key": key, "num_of_requests": 90, "num_of_blocked_requests": 80},
	})
	return report.New(s, answers)
}

func answer(t *testing.T, results any) report.Answer {
	t.Helper()
	body, err := json.Marshal(map[string]any{"data": map[string]any{"results": results}, "meta": map[string]any{}})
	if err != nil {
		t.Fatal(err)
	}
	return report.Answer{Body: body}
}

var envelope = Envelope{
	From: "Orrery <orrery@example.com>", To: []string{"ops@example.com", "Boss <boss@Example.com>"},
	Date: time.Date(2026, 11, 23, 7, 0, 0, 0, time.UTC), Run: "3f1c0a9b",
}

func write(t *testing.T, r report.Report, e Envelope) []byte {
	t.Helper()
	text, err := Write(r, e)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// part is a part of a mail that is no multipart.
type part struct {
	path, mediaType, file, id string
	content                   []byte
}

// partsOf reads the parts of a mail with the standard library.
func partsOf(t *testing.T, path string, header textproto.MIMEHeader, body io.Reader) []part {
	t.Helper()
	mediaType, params, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		t.Fatalf("%s: %v", header, err)
	}
	if !strings.HasPrefix(mediaType, "multipart/") {
		if strings.EqualFold(header.Get("Content-Transfer-Encoding"), "base64") { // multipart decodes quoted-printable only
			body = base64.NewDecoder(base64.StdEncoding, body)
		}
		content, err := io.ReadAll(body)
		if err != nil {
			t.Fatal(err)
		}
		disposition := header.Get("Content-Disposition")
		_, options, err := mime.ParseMediaType(disposition)
		if disposition != "" && err != nil {
			t.Fatal(err)
		}
		return []part{{path, mediaType, options["filename"], header.Get("Content-Id"), content}}
	}
	var parts []part
	reader := multipart.NewReader(body, params["boundary"])
	for {
		p, err := reader.NextPart()
		if err == io.EOF {
			return parts
		}
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, partsOf(t, path+strings.TrimPrefix(mediaType, "multipart/")+"/", p.Header, p)...)
	}
}

// TestWrite reads a mail with the standard library, as it is written and after a mail server has taken it, and compares
// its parts with the forms of the report. The title begins with a dot, because SMTP doubles those at the beginning of
// lines.
func TestWrite(t *testing.T) {
	r := weekly(t, ".well-known", "203.0.113.7")
	written := write(t, r, envelope)
	if !bytes.Contains(written, []byte("\r\n.")) {
		t.Error("no line begins with a dot")
	}
	t.Run("as it is written", func(t *testing.T) { checkParts(t, r, written) })
	t.Run("after SMTP", func(t *testing.T) {
		server := deliverytest.Start(t)
		sender := delivery.Sender{Settings: destination.Settings{Mail: &destination.Mail{
			Server: server.Address, From: envelope.From, Domains: []string{"example.com"},
		}}}
		to := definition.Destination{Mail: []string{"ops@example.com", "boss@example.com"}}
		if _, err := sender.Deliver(t.Context(), to, []runs.File{{Name: delivery.MailName, Content: written}}); err != nil {
			t.Fatal(err)
		}
		mails := server.Mails()
		if len(mails) != 1 {
			t.Fatalf("%d mails", len(mails))
		}
		checkParts(t, r, mails[0].Text)
	})
}

// checkParts compares the parts of a mail with the forms of its report.
func checkParts(t *testing.T, r report.Report, text []byte) {
	t.Helper()
	message, err := netmail.ReadMessage(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	parts := partsOf(t, "", textproto.MIMEHeader(message.Header), message.Body)
	var outline []string
	for _, p := range parts {
		outline = append(outline, p.path+" "+p.mediaType+" "+p.file)
	}
	want := []string{
		"mixed/related/alternative/ text/plain ",
		"mixed/related/alternative/ text/html ",
		"mixed/related/ image/png orrery-report-2026-11-16.png",
		"mixed/ text/html orrery-report-2026-11-16.html",
		"mixed/ text/csv orrery-report-2026-11-16.csv",
	}
	if diff := cmp.Diff(want, outline); diff != "" {
		t.Fatalf("parts differ (-want +got):\n%s", diff)
	}
	for i, content := range [][]byte{r.MailText(), r.MailHTML(), r.Chart.Picture(), r.HTML(), r.CSV()} {
		got := strings.ReplaceAll(string(parts[i].content), "\r\n", "\n")
		if want := strings.ReplaceAll(string(content), "\r\n", "\n"); got != want {
			t.Errorf("part %d differs:\n%s", i, cmp.Diff(want, got))
		}
	}
	picture, err := png.Decode(bytes.NewReader(parts[2].content))
	if err != nil || picture.Bounds().Dx() != 1200 || picture.Bounds().Dy() != 280 {
		t.Errorf("picture %v, %v", picture.Bounds(), err)
	}
	if len(parts[2].content) > 10_000 || len(parts[1].content) > 60_000 {
		t.Errorf("the picture has %d bytes, the page %d", len(parts[2].content), len(parts[1].content))
	}
	if !strings.Contains(string(parts[1].content), `src="cid:`+report.PictureID+`"`) ||
		parts[2].id != "<"+report.PictureID+">" {
		t.Errorf("the page does not show the picture %q", parts[2].id)
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(message.Header.Get("Subject"))
	if err != nil || subject != r.Subject() {
		t.Errorf("subject %q, %v", subject, err)
	}
	for name, want := range map[string]string{
		"X-Orrery-Run": "3f1c0a9b", "Date": "Mon, 23 Nov 2026 07:00:00 +0000", "Auto-Submitted": "auto-generated",
		"To": `<ops@example.com>, "Boss" <boss@example.com>`,
	} {
		if got := message.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestDraftHasASender(t *testing.T) {
	draft := envelope
	draft.From, draft.To = "", nil
	message, err := netmail.ReadMessage(bytes.NewReader(write(t, weekly(t, "", "a"), draft)))
	if err != nil {
		t.Fatal(err)
	}
	if got := message.Header.Get("From"); got != `"Orrery" <orrery@localhost>` {
		t.Errorf("the sender is %s", got)
	}
}

func TestSameReportSameMail(t *testing.T) {
	first := write(t, weekly(t, "", "a"), envelope)
	if second := write(t, weekly(t, "", "a"), envelope); !bytes.Equal(first, second) {
		t.Errorf("mails differ:\n%s", cmp.Diff(string(first), string(second)))
	}
	if other := write(t, weekly(t, "", "b"), envelope); bytes.Equal(first, other) {
		t.Error("two reports have the same mail")
	}
}

// TestNamesOfFiles: attached files have the date of the zone.
func TestNamesOfFiles(t *testing.T) {
	zone, err := time.LoadLocation("Asia/Kolkata")
	if err != nil {
		t.Fatal(err)
	}
	s := report.Setting{
		Template: report.Traffic, Zone: zone, Period: report.Day.Last(time.Date(2026, 11, 23, 7, 0, 0, 0, zone)),
	}
	text := string(write(t, report.New(s, nil), envelope))
	if !strings.Contains(text, `filename="orrery-report-2026-11-22.csv"`) || strings.Contains(text, "2026-11-21.csv") {
		t.Error("the name of the table does not have the date of the zone")
	}
}

// TestHostileTitles: a title adds no header.
func TestHostileTitles(t *testing.T) {
	for _, title := range []string{"a\r\nBcc: x@evil.example", "a\nb", "\r\n\r\nbody", "ä日本\u202e", strings.Repeat("x", 120)} {
		message, err := netmail.ReadMessage(bytes.NewReader(write(t, weekly(t, title, title), envelope)))
		if err != nil {
			t.Fatal(err)
		}
		if message.Header.Get("Bcc") != "" || len(message.Header["Subject"]) != 1 {
			t.Errorf("%q: %v", title, message.Header)
		}
	}
}

func TestWrongAddresses(t *testing.T) {
	r := weekly(t, "", "a")
	for _, e := range []Envelope{{From: "nobody"}, {From: "a@example.com", To: []string{"b@example.com\r\nBcc: c@example.com"}}} {
		if _, err := Write(r, e); err == nil {
			t.Errorf("%v is accepted", e)
		}
	}
}
