package logformat

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestColumns: for a combined log with further columns there is a format string that reads them.
func TestColumns(t *testing.T) {
	const (
		plain    = `192.0.2.7 - ann [17/May/2026:10:05:03 +0000] "GET /a HTTP/1.1" 200 5`
		agents   = ` "https://shop.example/" "Mozilla/5.0 (X11)"`
		nginx    = `$remote_addr $ident $remote_user [$time_local] "$request" $status $body_bytes_sent`
		apache   = `%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"`
		ingress  = ` 1002 0.012 [shop-web-80] [] 10.0.0.1:80, 10.0.0.2:80 0, 612 0.002, 0.010 502, 200 8af1c3`
		wantMore = nginx + ` "$http_referer" "$http_user_agent"`
	)
	for name, test := range map[string]struct{ line, format, fields string }{
		"the controller of nginx": {plain + agents + ingress, wantMore + ` $request_length $request_time ` +
			`[$proxy_upstream_name] [$proxy_alternative_upstream_name] $upstream_addr $upstream_response_length ` +
			`$upstream_response_time $upstream_status $request_id`,
			`{"request_time":0.012,"upstream_status":[502,200],"upstream_response_length":"0, 612","request_id":"8af1c3"}`},
		"an older controller": {plain + agents + ` 1002 0.012 [shop-web-80] 10.0.0.2:80 612 0.010 200 8af1c3`,
			wantMore + ` $request_length $request_time [$proxy_upstream_name] $upstream_addr ` +
				`$upstream_response_length $upstream_response_time $upstream_status $request_id`,
			`{"request_time":0.012,"upstream_status":[200],"request_id":"8af1c3"}`},
		"Traefik": {plain + agents + ` 17 "web@docker" "http://10.0.0.2:80" 5ms`,
			apache + ` %{requests}n "%{router}n" "%{server}n" %{ms}Tms`,
			`{"request_time":0.005,"router":"web@docker","server":"http://10.0.0.2:80"}`},
		"a duration of Apache": {plain + agents + ` 125034`, apache + ` %D`, `{"request_time":0.125034}`},
		"a virtual host in front": {"shop.example:443 " + plain + agents + ` 125034`,
			strings.Replace(apache, "%h", "%V %h", 1) + ` %D`, `{"host":"shop.example","port":"443","request_time":0.125034}`},
		"a virtual host of lighttpd": {strings.Replace(plain, " - ", " shop.example ", 1) + agents + ` 125034`,
			strings.Replace(apache, "%l", "%V", 1) + ` %D`, `{"host":"shop.example","request_time":0.125034}`},
		"other columns": {plain + agents + ` 0.012 0.010 "203.0.113.9" [a b] - HIT`,
			wantMore + ` $request_time $upstream_response_time "$column1" [$column2] $column3 $column4`,
			`{"request_time":0.012,"upstream_response_time":0.01,"column1":"203.0.113.9","column2":"a b","column4":"HIT"}`},
		"columns after the common format": {plain + ` HIT`, nginx + ` $column1`, `{"remote_user":"ann","column1":"HIT"}`},
		"the whole line in quotes": {`"` + strings.ReplaceAll(plain+agents+` 125034`, `"`, `""`) + `"`, apache + ` %D`,
			`{"request_time":0.125034}`},
		"no further columns":  {plain + agents + " 0.012 0.010", "", ""},
		"a dash":              {plain + agents + " -", "", ""},
		"a quote that is cut": {plain + agents + ` "abc`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			head := strings.Repeat(plain+"\n"+test.line+"\n", 3) + plain + " "
			got := Columns(combined{}, []byte(head))
			if got != test.format {
				t.Fatalf("got  %s\nwant %s", got, test.format)
			}
			if got == "" {
				return
			}
			f, err := ByFormatString(got)
			if err != nil {
				t.Fatal(err)
			}
			text, err := f.Convert(nil, []byte(test.line))
			if err != nil || strings.Contains(string(text), logRest) {
				t.Fatalf("%s, %v", text, err)
			}
			var has, want map[string]any
			for _, err := range []error{json.Unmarshal(text, &has), json.Unmarshal([]byte(test.fields), &want)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			for field, value := range want {
				if !equalJSON(t, has[field], value) {
					t.Errorf("%s is %v, want %v: %s", field, has[field], value, text)
				}
			}
		})
	}
	if got := Columns(alb{}, []byte(plain+agents+" 1\n")); got != "" {
		t.Errorf("a log of another format: %s", got)
	}
}

func equalJSON(t *testing.T, a, b any) bool {
	t.Helper()
	x, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(x) == string(y)
}
