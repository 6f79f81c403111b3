// Package link checks the base URL of the console, to which the links of reports lead.
package link

import "net/url"

// Check returns what is wrong with the base URL of a console, or "". The empty URL, for no links, is right.
func Check(base string) string {
	u, err := url.Parse(base)
	switch {
	case base == "":
		return ""
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "", u.Opaque != "":
		return "it is not an address such as https://example.com/console"
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return "it has a user, a query or a fragment; give the address of the console alone"
	}
	return ""
}
