package ledger

import "testing"

func TestLogName(t *testing.T) {
	tests := []struct {
		rule  string
		want  string
		paths []string
	}{
		{"rotation numbers and suffixes of compressions are no part of the name", "/var/log/web1/access.log", []string{
			"/var/log/web1/access.log",
			"/var/log/web1/access.log.1",
			"/var/log/web1/access.log.2.gz",
			"/var/log/web1/access.log.10.zst",
			"/var/log/web1/access.log.3.bz2",
			"/var/log/web1/access.log.gz",
			"/var/log/web1/access.log.gz.4",
		}},
		{"dates and times are no part of the name", "logs/access.log", []string{
			"logs/access.log-20261121",
			"logs/access.log-2026-11-21.gz",
			"logs/access.log.2026-11-21",
			"logs/access.log.2026.11.21",
			"logs/access.log-1763683200",
			"logs/access.log-1763683200.1.gz",
			"logs/access.log-2026112110",
			"logs/access.log-20261121T100503Z.gz",
			"logs/access-2026-11-21.log.gz",
			"logs/access-2026-11-21T10-05-03.000.log",
			"logs/access_20261121.log",
			"logs/access-1763683200.log",
			"logs/access-2026-11.log",
			"logs/access-11-21-2026.log",
			"logs/2026-11-21-access.log",
			"logs/20261121.access.log",
			"logs/access.log.1-20261121",
		}},
		{"the number of a file within its day is no part of the name", "app.log", []string{
			"app-2026-11-21.0.log", "app-2026-11-21-12.log.gz", "app.log-20261121.1.gz", "app.2026-11-21.log.2",
		}},
		{"folders of dates are no part of the name", "raw/web1/access.log", []string{
			"raw/web1/access.log",
			"raw/2026/11/21/web1/access.log",
			"raw/2026/11/22/web1/access.log.1",
			"raw/2026/11/22/09/web1/access.log.2.gz",
			"raw/2026/11/22/09/55/web1/access.log",
			"raw/web1/2026/11/access-20261121.log",
			"raw/web1/2026-11-21/access.log",
			"raw/web1/20261121/13/access.log",
			"raw/year=2026/month=11/day=21/hour=10/web1/access.log",
			"raw/dt=2026-11-21/web1/access.log",
		}},
		{"other folders are part of the name", "raw/web2/access.log", []string{"raw/2026/11/21/web2/access.log"}},
		{"a year alone is part of the name", "raw/2026/access.log", []string{"raw/2026/access.log"}},
		{"numbers in folders are part of the name", "raw/11/21/7/access.log", []string{"raw/11/21/7/access.log"}},
		{"the unique strings of a load balancer are part of the name",
			"AWSLogs/123456789012/elasticloadbalancing/us-east-2/" +
				"123456789012_elasticloadbalancing_us-east-2_app.my-lb.1234567890abcdef_192.0.2.1_20sg8hgm.log",
			[]string{"AWSLogs/123456789012/elasticloadbalancing/us-east-2/2026/11/21/" +
				"123456789012_elasticloadbalancing_us-east-2_app.my-lb.1234567890abcdef_20261121T2340Z_" +
				"192.0.2.1_20sg8hgm.log.gz"}},
		{"the unique strings of a firewall are part of the name",
			"AWSLogs/123456789012/WAFLogs/us-east-1/acl/123456789012_waflogs_us-east-1_acl_e0ca43b5.log",
			[]string{"AWSLogs/123456789012/WAFLogs/us-east-1/acl/2026/11/21/10/05/" +
				"123456789012_waflogs_us-east-1_acl_20261121T1005Z_e0ca43b5.log.gz"}},
		{"the unique strings of Firehose are part of the name",
			"waf/aws-waf-logs-1-4a1b-8e2c",
			[]string{"waf/2026/11/21/10/aws-waf-logs-1-2026-11-21-10-05-03-4a1b-8e2c.gz"}},
		{"an address is part of the name", "raw/10.0.0.1", []string{"raw/10.0.0.1", "raw/10.0.0.1.1", "raw/10.0.0.1.gz"}},
		{"an address after a date is part of the name", "access-10.0.0.1", []string{
			"access-10.0.0.1", "access-2026-11-21-10.0.0.1", "access-10.0.0.1-20261121.gz",
		}},
		{"digits in other places are part of the name", "web-12/access2.v20261199.9912345678.log", []string{
			"web-12/access2.v20261199.9912345678.log",
		}},
		{"an account is part of the name", "123456789012_logs", []string{"123456789012_logs", "123456789012_logs.1"}},
		{"a name may consist of a date", "raw/log", []string{"raw/2026-11-21.log", "raw/20261122.log.gz"}},
		{"a suffix alone is a name", "raw/.gz", []string{"raw/.gz"}},
		{"a name is not empty", ".", []string{"", "20261121.gz", "2026/11/21/20261121-10"}},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			for _, path := range test.paths {
				if got := LogName(path); got != test.want {
					t.Errorf("LogName(%q) = %q, want %q", path, got, test.want)
				}
			}
		})
	}
}
