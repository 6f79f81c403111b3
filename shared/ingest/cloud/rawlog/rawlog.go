// Package rawlog names the raw logs in their bucket.
package rawlog

import (
	"path"
	"strings"
)

// Log names one raw log.
type Log struct {
	Key     string
	Version string // of the object, when the bucket keeps versions; "" for the latest
	Format  string // name of the format of a log that was refused without it; "" to detect it
}

const (
	// HistoryPrefix is the prefix of the keys of raw logs to which the horizon does not apply. Old logs are put there.
	// It is no part of the names of logs, so that a log that is put there, too, is not imported twice.
	HistoryPrefix = "raw/history/"
	// Prefix is the prefix of the keys of all raw logs.
	Prefix = "raw/"
)

// NoLog returns the reason why an object of the raw bucket with that key is no log, or "" if it may be one.
func NoLog(key string) string {
	switch {
	case strings.HasSuffix(key, "/"):
		return "a console has created it to show a folder"
	case path.Base(key) == "ELBAccessLogTestFile":
		return "a load balancer has put it to test whether it may write"
	}
	return ""
}
