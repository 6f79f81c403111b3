package metrics

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// ownProcess asks the kernel. It would report the memory only to C.
func ownProcess() process {
	p := unknown()
	if own, err := unix.SysctlKinfoProc("kern.proc.pid", os.Getpid()); err == nil {
		p.start = float64(own.Proc.P_starttime.Nano()) / 1e9
	}
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &usage) == nil {
		p.cpuSeconds = time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
	}
	if folder, err := os.Open("/dev/fd"); err == nil {
		// Only names are read, because queues of the kernel have no other properties.
		if names, err := folder.Readdirnames(0); err == nil {
			p.openFiles = float64(len(names) - 1) // without that of the folder
		}
		_ = folder.Close() // it was only read
	}
	p.openFilesMost, p.virtualMost = limit(unix.RLIMIT_NOFILE), limit(unix.RLIMIT_AS)
	return p
}
