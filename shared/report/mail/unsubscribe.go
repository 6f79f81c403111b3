package mail

import (
	netmail "net/mail"
	"net/url"
	"strings"
)

// Unsubscribe returns where a receiver can end a scheduled report: its definition in the console with the base URL link,
// or, without a console, a mail to the sender. It returns "" if there is neither.
func Unsubscribe(link, from, config, name string) string {
	if link != "" {
		return strings.TrimRight(link, "/") + "/#/reports/" + url.PathEscape(config) + "/" + url.PathEscape(name)
	}
	sender, err := netmail.ParseAddress(from)
	if err != nil {
		return ""
	}
	mailto := url.URL{Scheme: "mailto", Opaque: url.PathEscape(sender.Address)}
	return mailto.String() + "?subject=" + url.PathEscape("unsubscribe "+config+"/"+name)
}
