package logformat

import (
	"bytes"
	"os"
	"testing"
)

// BenchmarkConvert measures the conversion of lines of JSON to records.
func BenchmarkConvert(b *testing.B) {
	mapped, err := ByMapping([]string{
		"timestamp=at", "ip=client.ip", "method=http.method", "target=http.uri", "host=http.host",
		"user_agent=client.agent", "bytes_sent=size", "request_time=duration_ms/1000",
	})
	if err != nil {
		b.Fatal(err)
	}
	caddyLog, err := os.ReadFile("testdata/caddy.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	first, _, _ := bytes.Cut(caddyLog, []byte("\n"))
	for _, c := range []struct {
		name   string
		format Format
		line   []byte
	}{
		{"caddy", caddy{}, first},
		{"mapped", mapped, []byte(`{"at":"2026-05-17T10:05:03.123Z","service":"edge",` +
			`"client":{"ip":"203.0.113.7","agent":"Mozilla/5.0 ` +
			`(X11; Linux x86_64) AppleWebKit/537.36"},"http":{"method":"GET","host":"shop.example","uri":"/a/b?q=1"},` +
			`"status":200,"size":512,"duration_ms":12.345,"trace":"9e3779b97f4a7c15"}`)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			var record []byte
			for b.Loop() {
				if record, err = c.format.Convert(record[:0], c.line); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
