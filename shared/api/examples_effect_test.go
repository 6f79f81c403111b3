package api

import (
	"fmt"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/lake"
)

func init() {
	specials["new rule"] = func(t testing.TB, c *Config) {
		service := newSearch(t, &oracle{newRule()}, 0)
		c.Search, c.Queries = service, service
	}
}

// newRule returns an hour of a host with one request in four seconds. A rate limit blocks some of them, and from 10:30 on
// an ACL of other settings blocks one in five.
func newRule() []*lake.Row {
	var rows []*lake.Row
	begin := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	for i := range int64(900) {
		host, ip, blocked, human := "shop.example", fmt.Sprintf("198.51.100.%d", i%50), false, i%10 != 0
		r := &lake.Row{
			TsMs: begin.UnixMilli() + 4000*i, Source: "test", Line: i + 1, Host: &host, IP: &ip, Blocked: &blocked, Human: &human,
		}
		reason, revision := "", "1f0c"
		if i >= 450 {
			revision = "9a2e"
		}
		r.SecurityConfig = &lake.SecurityConfig{Revision: &revision}
		switch {
		case i%30 == 0:
			reason = `Block - rate limit ["login"] - Login attempts - [request]`
		case i >= 450 && i%5 == 3:
			reason = `Block - acl Deny ["anonymizer"] - acl3 - [request]`
		}
		if reason != "" {
			blocked, r.Reason = true, &reason
		}
		rows = append(rows, r)
	}
	return rows
}
