package link

import "testing"

func TestCheck(t *testing.T) {
	for base, good := range map[string]bool{
		"": true, "https://example.com": true, "http://localhost:8080/console/": true, "javascript:alert(1)": false,
		"data:text/html,x": false, "example.com": false, "https://": false, "https://a:b@example.com": false,
		"https://example.com/?x": false, "https://example.com/#x": false, "https:example.com": false, "//example.com": false,
	} {
		if wrong := Check(base); (wrong == "") != good {
			t.Errorf("%s: %q", base, wrong)
		}
	}
}
