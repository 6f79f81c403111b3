package api

import "testing"

func TestAcceptedCodings(t *testing.T) {
	for accept, want := range map[string]acceptedCodings{
		"":                               {identity, true},
		"gzip":                           {gzipEncoding, true},
		"gzip, deflate, br, zstd":        {zstdEncoding, true},
		"GZIP;q=0.8, zstd;q=0.5":         {gzipEncoding, true},
		"gzip;q=0":                       {identity, true},
		"*":                              {zstdEncoding, true},
		"*;q=0.1, zstd;q=0":              {gzipEncoding, true},
		"identity, gzip;q=0.5":           {identity, true},
		"identity;q=0.5, gzip":           {gzipEncoding, true},
		"br":                             {identity, true},
		"gzip;q=x":                       {identity, true},
		"gzip;q=7":                       {identity, true},
		"gzip;;":                         {identity, true},
		"identity;q=0":                   {identity, false},
		"*;q=0":                          {identity, false},
		"*;q=0, identity":                {identity, true},
		"br, *;q=0":                      {identity, false},
		"gzip, *;q=0":                    {gzipEncoding, false},
		"zstd;q=0.5, gzip, identity;q=0": {gzipEncoding, false},
	} {
		if got := codingsOf([]string{accept}); got != want {
			t.Errorf("Accept-Encoding %q: %+v, want %+v", accept, got, want)
		}
	}
}

func TestNegotiate(t *testing.T) {
	for accept, want := range map[string]string{
		"application/json":                   jsonType,
		"*/*":                                jsonType,
		"text/*":                             textType,
		"text/plain, application/json;q=0.9": textType,
		"text/html,application/xhtml+xml,*/*;q=0.8": jsonType,
		"application/json;q=0, */*":                 textType,
		"application/xml":                           "",
		"application/json; charset=utf-8":           jsonType,
	} {
		if got := negotiate([]string{accept}, jsonType, textType); got != want {
			t.Errorf("Accept %q: %q, want %q", accept, got, want)
		}
	}
}
