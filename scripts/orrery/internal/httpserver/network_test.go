package httpserver

import "testing"

func TestNetwork(t *testing.T) {
	for text, want := range map[string]string{
		"127.0.0.1": "127.0.0.1/32", "10.0.0.0/8": "10.0.0.0/8", "2001:db8::1": "2001:db8::1/128", "::1/64": "::1/64",
	} {
		var n Network
		if err := n.UnmarshalText([]byte(text)); err != nil || n.String() != want {
			t.Errorf("%s: %s, %v", text, n, err)
		}
	}
	for _, text := range []string{"", "proxy.example", "10.0.0.0/33"} {
		if err := new(Network).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}
