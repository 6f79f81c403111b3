package logformat

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
)

// TestSuggestedMappings: the error about objects of no known format has mappings by which they become records of
// requests, or none if they are about something else.
func TestSuggestedMappings(t *testing.T) {
	for name, test := range map[string]struct{ line, want, record string }{
		"a load balancer of Google": {
			`{"insertId":"a","timestamp":"2026-05-17T10:05:03.25Z","resource":{"type":"http_load_balancer"},"httpRequest":` +
				`{"requestMethod":"GET","requestUrl":"http://shop.example/a?b=1","requestSize":"12","status":404,` +
				`"responseSize":"534","userAgent":"curl/8","remoteIp":"203.0.113.7"}}`,
			"ip=httpRequest.remoteIp method=httpRequest.requestMethod target=httpRequest.requestUrl " +
				"status=httpRequest.status bytes_sent=httpRequest.responseSize user_agent=httpRequest.userAgent",
			`{"ip":"203.0.113.7","method":"GET","path":"/a","host":"shop.example","status":404}`,
		},
		"an intrusion detection": {
			`{"timestamp":"2026-05-17T10:05:03.1+0000","event_type":"http","src_ip":"203.0.113.7","src_port":4011,` +
				`"dest_ip":"198.51.100.1","http":{"hostname":"shop.example","url":"/a","http_user_agent":"curl/8",` +
				`"http_method":"GET","status":200,"length":10}}`,
			"ip=src_ip method=http.http_method target=http.url host=http.hostname status=http.status user_agent=http.http_user_agent",
			`{"ip":"203.0.113.7","method":"GET","path":"/a","host":"shop.example","status":200}`,
		},
		"a content delivery network": {
			`{"timestamp":"2026-05-17T10:05:03+0000","client_ip":"203.0.113.7","host":"shop.example","url":"/a",` +
				`"request_method":"GET","response_status":200,"response_body_size":12}`,
			"ip=client_ip method=request_method status=response_status",
			`{"ip":"203.0.113.7","method":"GET","path":"/a","host":"shop.example","status":200}`,
		},
		"another one": {
			`{"ClientIP":"203.0.113.7","ClientRequestHost":"shop.example","ClientRequestMethod":"GET",` +
				`"ClientRequestURI":"/a","EdgeResponseStatus":200,"EdgeResponseBytes":69,` +
				`"EdgeStartTimestamp":"2026-05-17T10:05:03Z"}`,
			"timestamp=EdgeStartTimestamp ip=ClientIP method=ClientRequestMethod target=ClientRequestURI " +
				"host=ClientRequestHost status=EdgeResponseStatus bytes_sent=EdgeResponseBytes",
			`{"ip":"203.0.113.7","method":"GET","path":"/a","host":"shop.example","status":200}`,
		},
		"an address and a status": {
			`{"timestamp":"2026-05-17T10:05:03Z","client_ip":"203.0.113.7","status":200}`, "ip=client_ip",
			`{"ip":"203.0.113.7","status":200}`,
		},
		"too few members, but with the names of fields": {
			`{"timestamp":"2026-05-17T10:05:03Z","path":"/a","status":200}`, "timestamp=timestamp", `{"path":"/a","status":200}`,
		},
		"a connection": {
			`{"timestamp":"2026-05-17T10:05:03Z","event_type":"flow","src_ip":"203.0.113.7","flow":{"pkts":3}}`, "", "",
		},
		"a status alone": {`{"timestamp":"2026-05-17T10:05:03Z","status":200}`, "", ""},
		"an address with a port, and a request line": {
			`{"@timestamp":"2026-05-17T10:05:03Z","remote addr":"203.0.113.7:4011","log.request":"GET /a HTTP/1.1"}`,
			`timestamp=@timestamp peer="remote addr" request="log.request"`,
			`{"ip":"203.0.113.7","method":"GET","path":"/a"}`,
		},
		"values that cannot be the field": {
			`{"timestamp":"2026-05-17T10:05:03Z","client_ip":"unknown host","remote_addr":"203.0.113.7","status":"ok",` +
				`"status_code":"503","uri":"a b","verb":7}`,
			"ip=remote_addr status=status_code", `{"ip":"203.0.113.7","status":503}`,
		},
		"a dump of a server's state": {
			`{"timestamp":1779012303,"version":6,"address":"198.51.100.1","connections":{"accepted":1},"load":0.5}`, "", "",
		},
		"requests without a time": {`{"client_ip":"203.0.113.7","status":200}`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Detect([]byte(test.line + "\n"))
			e, is := errors.AsType[*UnrecognizedError](err)
			if !is {
				t.Fatal(err)
			}
			if len(e.Members) == 0 {
				t.Error("the members are not listed")
			}
			if diff := cmp.Diff(test.want, strings.Join(e.Map, " ")); diff != "" {
				t.Error(diff)
			}
			if test.want == "" {
				return
			}
			f, err := ByMapping(e.Map)
			if err != nil {
				t.Fatal(err)
			}
			text, err := f.Convert(nil, []byte(test.line))
			if err != nil {
				t.Fatal(err)
			}
			var row lake.Row
			if _, err := record.NewDecoder().Decode(text, &row); err != nil {
				t.Fatal(err)
			}
			got := string(record.AppendJSON(nil, &row, []string{"ip", "method", "path", "host", "status"}))
			if got != test.record {
				t.Errorf("got %s, want %s", got, test.record)
			}
		})
	}
}
