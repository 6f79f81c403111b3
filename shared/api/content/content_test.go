package content

import "testing"

func TestAcceptedCodings(t *testing.T) {
	for accept, want := range map[string]Codings{
		"":                               {Identity, true},
		"gzip":                           {Gzip, true},
		"gzip, deflate, br, zstd":        {Zstd, true},
		"GZIP;q=0.8, zstd;q=0.5":         {Gzip, true},
		"gzip;q=0":                       {Identity, true},
		"*":                              {Zstd, true},
		"*;q=0.1, zstd;q=0":              {Gzip, true},
		"identity, gzip;q=0.5":           {Identity, true},
		"identity;q=0.5, gzip":           {Gzip, true},
		"br":                             {Identity, true},
		"gzip;q=x":                       {Identity, true},
		"gzip;q=7":                       {Identity, true},
		"gzip;;":                         {Identity, true},
		"identity;q=0":                   {Identity, false},
		"*;q=0":                          {Identity, false},
		"*;q=0, identity":                {Identity, true},
		"br, *;q=0":                      {Identity, false},
		"gzip, *;q=0":                    {Gzip, false},
		"zstd;q=0.5, gzip, identity;q=0": {Gzip, false},
	} {
		if got := CodingsOf([]string{accept}); got != want {
			t.Errorf("Accept-Encoding %q: %+v, want %+v", accept, got, want)
		}
	}
}

func TestNegotiate(t *testing.T) {
	for accept, want := range map[string]string{
		"application/json":                   JSON,
		"*/*":                                JSON,
		"text/*":                             Text,
		"text/plain, application/json;q=0.9": Text,
		"text/html,application/xhtml+xml,*/*;q=0.8": JSON,
		"application/json;q=0, */*":                 Text,
		"application/xml":                           "",
		"application/json; charset=utf-8":           JSON,
	} {
		if got := Negotiate([]string{accept}, JSON, Text); got != want {
			t.Errorf("Accept %q: %q, want %q", accept, got, want)
		}
	}
}
