package delivery

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"github.com/orrery/orrery/shared/report/destination"
	"github.com/orrery/orrery/shared/report/runs"
)

// webhook posts the report in JSON.
func (s Sender) webhook(ctx context.Context, to destination.Webhook, files []runs.File) error {
	body, err := form(files, ".json")
	if err != nil {
		return err
	}
	d, err := documentOf(files)
	if err != nil {
		return err
	}
	run := d.Run.Scheduled.ID
	return s.post(ctx, request{
		to: "the webhook", url: to.URL, signing: to.Signing, body: body,
		header: http.Header{
			"Content-Type": {"application/json"},
			"User-Agent":   {"orrery"},
			"X-Orrery-Run": {run},
		},
		sign: func(h http.Header, secret string) { h.Set("X-Orrery-Signature", signature(secret, run, body)) },
	})
}

// signature returns the signature of a report. It includes the ID of the run, so that a receiver who ignores runs that it
// has seen cannot be sent an old report again under another ID.
func signature(secret, run string, body []byte) string {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(run + "\n"))
	h.Write(body)
	return "sha256=" + hex.EncodeToString(h.Sum(nil))
}
