package bench

import (
	"syscall"
	"time"
)

// cpuTime returns the processor time that this process has used.
func cpuTime() time.Duration {
	self, err := syscall.GetCurrentProcess()
	var created, exited, kernel, user syscall.Filetime
	if err == nil {
		err = syscall.GetProcessTimes(self, &created, &exited, &kernel, &user)
	}
	if err != nil {
		panic(err) // of this process, there always is one
	}
	const unit = 100 // nanoseconds
	of := func(t syscall.Filetime) int64 { return unit * (int64(t.HighDateTime)<<32 | int64(t.LowDateTime)) }
	return time.Duration(of(kernel) + of(user))
}
