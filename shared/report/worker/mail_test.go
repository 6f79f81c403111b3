package worker_test

import (
	"bytes"
	"net/mail"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/delivery"
	"github.com/orrery/orrery/shared/report/delivery/deliverytest"
	"github.com/orrery/orrery/shared/report/destination"
	"github.com/orrery/orrery/shared/report/runs"
	"github.com/orrery/orrery/shared/report/worker"
)

// mailing returns a runner that sends mail to a server.
func (w *world) mailing(server *deliverytest.Server, domains ...string) *worker.Runner {
	r := w.runner()
	r.Settings.Mail = &destination.Mail{Server: server.Address, From: "Orrery <orrery@example.com>", Domains: domains}
	r.Deliver = delivery.Sender{Settings: r.Settings}
	return r
}

// receivers returns the addresses in the header of a mail.
func receivers(t *testing.T, m deliverytest.Mail) (list []string) {
	t.Helper()
	message, err := mail.ReadMessage(bytes.NewReader(m.Text))
	if err != nil {
		t.Fatal(err)
	}
	to, err := message.Header.AddressList("To")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range to {
		list = append(list, a.Address)
	}
	return list
}

// TestForbiddenAddresses: an address in a domain to which the operator no longer allows mail is a failed destination,
// and the mail to the others does not name it, whenever the domain was removed.
func TestForbiddenAddresses(t *testing.T) {
	const reason = "the operator does not allow mail to partner.example any more"
	all := []string{"a@example.com", "b@partner.example", "c@example.com", "d@Partner.example"}
	for _, test := range []struct {
		rule    string
		domains []string // when the report is made
	}{
		{"before the report is made", []string{"example.com"}},
		{"before the delivery is repeated", []string{"example.com", "partner.example"}},
	} {
		t.Run(test.rule, func(t *testing.T) {
			w := newWorld(t)
			w.put("r", daily(only(definition.Destination{Mail: all})))
			w.now = monday
			server := deliverytest.Start(t)
			server.Answer(".", "451 later")
			if err := w.mailing(server, test.domains...).Tick(t.Context()); err != nil {
				t.Fatal(err)
			}
			server.Answer(".", "")
			w.now = monday.Add(time.Minute)
			if err := w.mailing(server, "example.com").Tick(t.Context()); err != nil {
				t.Fatal(err)
			}
			want := []string{"a@example.com", "c@example.com"}
			mails := server.Mails()
			if len(mails) != 1 || !slices.Equal(mails[0].To, want) || !slices.Equal(receivers(t, mails[0]), want) {
				t.Fatalf("%d mails: %v", len(mails), mails)
			}
			run := w.list("r")[0]
			var got []string
			for _, d := range run.Deliveries {
				got = append(got, strings.Join(append([]string{string(d.State), d.Reason}, d.Destination.Mail...), " "))
			}
			deliveries := []string{
				"delivered  a@example.com c@example.com", "failed " + reason + " b@partner.example d@Partner.example",
			}
			if diff := cmp.Diff(deliveries, got); diff != "" || run.State != runs.Delivered {
				t.Errorf("the run is %s (-want +got):\n%s", run.State, diff)
			}
			if !strings.Contains(w.log.String(), "state=delivered reason=\"\" refused=1") { // the alarm counts it
				t.Errorf("%s", &w.log)
			}
		})
	}
}
