package reports

import (
	"testing"

	"github.com/orrery/orrery/shared/report/destination"
)

// TestDestinations: the doctor reports where reports may be sent.
func TestDestinations(t *testing.T) {
	mail := &destination.Mail{SES: true, From: "a@shop.example", Domains: []string{"partner.example", "shop.example"}}
	named := map[string]destination.Destination{"archive": destination.Bucket{Name: "b"}, "chat": destination.Slack{}}
	for want, settings := range map[string]destination.Settings{
		"no report can be scheduled, because the property reports of the deployment defines no destinations": {},
		"reports may be sent to archive, chat; mail is not set up":                                           {Destinations: named},
		"reports may be sent by mail to partner.example, shop.example":                                       {Mail: mail},
		"reports may be sent by mail to partner.example, shop.example, and to archive, chat":                 {Mail: mail, Destinations: named},
	} {
		t.Run(want, func(t *testing.T) {
			if got, err := destinations(settings).Run(t.Context()); got != want || err != nil {
				t.Errorf("got %s %v", got, err)
			}
		})
	}
}

// TestMessagesWithoutARun: the log says what is wrong with a message.
func TestMessagesWithoutARun(t *testing.T) {
	for body, want := range map[string]string{
		`{"report":"daily"}`: `the message "{\"report\":\"daily\"}" names no run`,
		`hello`:              `the message "hello" is not understood: invalid character 'h' looking for beginning of value`,
	} {
		if err := advance(t.Context(), nil, body); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
