package api

import (
	"fmt"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/lake"
)

func init() {
	specials["guessed passwords"] = func(t testing.TB, c *Config) {
		service := newSearch(t, &oracle{guessedPasswords()}, 0)
		c.Search, c.Queries = service, service
	}
}

// guessedPasswords returns an hour of a host with fifteen requests a minute. From 10:20 to 10:24, passwords are guessed
// there from ten addresses.
func guessedPasswords() []*lake.Row {
	var rows []*lake.Row
	begin := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	add := func(at time.Time, path, ip, organization string, status int64, reason string) {
		host, method, blocked, human, took := "shop.example", "POST", reason != "", reason == "", int64(60_000)
		r := &lake.Row{
			TsMs: at.UnixMilli(), Source: "test", Line: int64(len(rows) + 1), Host: &host, Method: &method, Path: &path, IP: &ip,
			Organization: &organization, Status: &status, Blocked: &blocked, Human: &human, TotalUs: &took,
		}
		if blocked {
			r.Reason = &reason
		}
		rows = append(rows, r)
	}
	for at := begin; at.Before(begin.Add(time.Hour)); at = at.Add(2 * time.Second) {
		n := int(at.Sub(begin).Seconds())
		if n%4 == 0 {
			add(at, "/", fmt.Sprintf("198.51.100.%d", n%200), "Example Telecom", 200, "")
		}
		if n < 20*60 || n >= 24*60 {
			continue
		}
		reason := "rate limit login"
		if n%40 == 0 {
			reason = ""
		}
		add(at.Add(time.Millisecond), "/login", fmt.Sprintf("203.0.113.%d", n%20), "Example Hosting", 401, reason)
	}
	return rows
}
