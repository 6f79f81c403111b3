package local_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/gen"
)

// TestMaxBytesOfSeveralQuestions: what the questions of an answer read together is limited like what one query reads.
func TestMaxBytesOfSeveralQuestions(t *testing.T) {
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	text, err := io.ReadAll(gen.New(gen.Options{Records: 6000, Seed: 1, From: from, To: from.AddDate(0, 0, 2)}))
	if err != nil {
		t.Fatal(err)
	}
	period := url.QueryEscape("timestamp between 2026-01-01 and 2026-01-02 23:59:59.999")
	for name, path := range map[string]string{
		"incidents": "/data/incidents?filters=" + period,
		"effect":    "/data/effect?at=2026-01-02&length=12h",
		"whatif":    "/data/whatif?filters=" + period + "&rule=" + url.QueryEscape("limit 5 per 1m by ip"),
	} {
		t.Run(name, func(t *testing.T) {
			product := openProduct(t, t.TempDir())
			handler := handlerOf(t, product)
			importLog(t, product, "log", string(text))
			ask := func(parameters string, into any) (code int, body string) {
				t.Helper()
				w := send(t, handler, http.MethodGet, path+parameters, "")
				if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
					t.Fatalf("%d %s: %v", w.Code, w.Body, err)
				}
				return w.Code, w.Body.String()
			}
			estimate := func(parameters string) int64 {
				t.Helper()
				var dry struct{ Meta answer.Meta }
				if code, body := ask(parameters, &dry); code != http.StatusOK {
					t.Fatalf("%d %s", code, body)
				}
				return dry.Meta.Estimate.Bytes.High
			}
			type refusal struct {
				Message  string
				Estimate answer.Estimate
				Fits     *answer.MetaPeriod
				Detail   []struct{ Type string }
			}
			high := estimate("&dry_run=true&max_bytes=1")
			if high == 0 {
				t.Fatal("nothing would be read")
			}
			var refused refusal
			code, body := ask(fmt.Sprint("&max_bytes=", high-1), &refused)
			if code != http.StatusUnprocessableEntity || refused.Estimate.Bytes.High != high || refused.Detail[0].Type != "too_heavy" ||
				!strings.HasPrefix(refused.Message, fmt.Sprintf("max_bytes: its questions may read %d bytes, more than %d; ", high, high-1)) {
				t.Fatalf("%d %s", code, body)
			}
			if fits := refused.Fits; (fits == nil) != (name == "effect") {
				t.Errorf("the part that fits is %+v", fits)
			} else if fits != nil {
				part := url.QueryEscape("timestamp between " + fits.From + " and " + fits.To)
				whole := path
				path = strings.Replace(path, period, part, 1)
				if n := estimate("&dry_run=true"); n > high-1 {
					t.Errorf("the part from %s may read %d bytes", fits.From, n)
				}
				path = whole
			}
			// What follows from the first answers counts, too.
			var later refusal
			code, body = ask(fmt.Sprint("&max_bytes=", high), &later)
			switch {
			case name == "effect" && code != http.StatusOK:
				t.Errorf("%d %s", code, body)
			case name == "incidents" && (code != http.StatusUnprocessableEntity || later.Estimate.Bytes.High <= high ||
				!strings.HasSuffix(later.Message, "; ask for a shorter period, or allow more bytes")):
				t.Errorf("%d %s", code, body)
			}
			var all struct{ Meta answer.Meta }
			if code, body := ask("&max_bytes=1000000000", &all); code != http.StatusOK || all.Meta.BytesScanned > 1e9 {
				t.Errorf("%d %s", code, body)
			}
			if name == "incidents" { // the answer is kept, and a repeated request reads nothing
				if code, body := ask("&max_bytes=1", &all); code != http.StatusOK {
					t.Errorf("%d %s", code, body)
				}
			}
			if code, body := ask("&max_bytes=x", &refused); code != http.StatusUnprocessableEntity {
				t.Errorf("%d %s", code, body)
			}
		})
	}
}
