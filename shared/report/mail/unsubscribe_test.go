package mail

import (
	"bytes"
	netmail "net/mail"
	"net/url"
	"strings"
	"testing"
)

func TestUnsubscribe(t *testing.T) {
	for _, test := range []struct{ rule, link, from, want string }{
		{"the report in the console", "https://orrery.example/console/", "Orrery <orrery@example.com>",
			"https://orrery.example/console/#/reports/prod.a_b/weekly"},
		{"a mail to the sender", "", "Orrery <orrery@example.com>", "mailto:orrery@example.com?subject=unsubscribe%20prod.a_b%2Fweekly"},
		{"an address with special characters", "", `"a>b?c"@example.com`, "mailto:a%3Eb%3Fc@example.com?subject=unsubscribe%20prod.a_b%2Fweekly"},
		{"neither", "", "nobody", ""},
	} {
		t.Run(test.rule, func(t *testing.T) {
			got := Unsubscribe(test.link, test.from, "prod.a_b", "weekly")
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if _, err := url.Parse(got); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestListUnsubscribe: the header is in every mail of a scheduled report, and in no other.
func TestListUnsubscribe(t *testing.T) {
	e := envelope
	for _, target := range []string{"", "https://orrery.example/#/reports/prod/weekly", "https://orrery.example/" + strings.Repeat("a", 200)} {
		e.Unsubscribe = target
		message, err := netmail.ReadMessage(bytes.NewReader(write(t, weekly(t, "", "a"), e)))
		if err != nil {
			t.Fatal(err)
		}
		want := ""
		if target != "" {
			want = "<" + target + ">"
		}
		if got := message.Header.Get("List-Unsubscribe"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
