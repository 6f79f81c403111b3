package parameter

import (
	"net/url"
	"testing"
)

func TestUnescapeKeepsInvalidEscapes(t *testing.T) {
	for sent, want := range map[string]string{
		"100%":      "100%",
		"%":         "%",
		"%2":        "%2",
		"%zz":       "%zz",
		"%2525":     "%25",
		"a+b%2Bc":   "a b+c",
		"%e2%82%AC": "€",
	} {
		if got := unescape(sent); got != want {
			t.Errorf("unescape(%q) = %q, want %q", sent, got, want)
		}
	}
}

func FuzzUnescape(f *testing.F) {
	for _, seed := range []string{"", "a b", "%", "+", "é;{}", "\x00\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got := unescape(url.QueryEscape(text)); got != text {
			t.Errorf("%q came back as %q", text, got)
		}
		args, err := ReadQuery("filters="+url.QueryEscape(text)+"&_x", []Parameter{Filters})
		if err != nil || args["filters"] != text {
			t.Errorf("%q came back as %q, %v", text, args["filters"], err)
		}
		unescape(text)
	})
}
