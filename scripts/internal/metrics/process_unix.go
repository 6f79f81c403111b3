//go:build linux || darwin

package metrics

import "golang.org/x/sys/unix"

// limit returns a limit of the process.
func limit(resource int) float64 {
	var l unix.Rlimit
	if unix.Getrlimit(resource, &l) != nil {
		return -1
	}
	return float64(l.Cur)
}
