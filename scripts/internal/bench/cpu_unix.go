//go:build unix

package bench

import (
	"syscall"
	"time"
)

// cpuTime returns the processor time that this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // of this process, there always is one
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
