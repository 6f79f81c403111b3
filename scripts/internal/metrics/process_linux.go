package metrics

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ticks is how many of its ticks the kernel counts in a second, on all architectures that Go has.
const ticks = 100

// ownProcess reads /proc. proc(5) describes the files.
func ownProcess() process {
	p := unknown()
	p.readStat()
	if fds, err := os.ReadDir("/proc/self/fd"); err == nil {
		p.openFiles = float64(len(fds) - 1) // without that of the folder
	}
	p.openFilesMost, p.virtualMost = limit(unix.RLIMIT_NOFILE), limit(unix.RLIMIT_AS)
	p.readNetwork()
	return p
}

// readStat reads /proc/self/stat.
func (p *process) readStat() {
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return
	}
	// The second field is the name of the program in parentheses, which may contain spaces and parentheses.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	field := func(number int) float64 {
		if number-3 >= len(fields) {
			return -1
		}
		return parsed(fields[number-3])
	}
	if user, system := field(14), field(15); user >= 0 && system >= 0 {
		p.cpuSeconds = (user + system) / ticks
	}
	if boot, started := bootTime(), field(22); boot >= 0 && started >= 0 {
		p.start = boot + started/ticks
	}
	p.virtual = field(23)
	if pages := field(24); pages >= 0 {
		p.resident = pages * float64(os.Getpagesize())
	}
}

// bootTime returns when the machine started.
func bootTime() float64 {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return -1
	}
	_, rest, found := strings.Cut(string(text), "\nbtime ")
	if !found {
		return -1
	}
	line, _, _ := strings.Cut(rest, "\n")
	return parsed(line)
}

// readNetwork reads /proc/self/net/netstat: pairs of lines, with names and with values.
func (p *process) readNetwork() {
	text, err := os.ReadFile("/proc/self/net/netstat")
	if err != nil {
		return
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] != "IpExt:" {
			continue
		}
		for i, name := range names[:min(len(names), len(fields))] {
			switch name {
			case "InOctets":
				p.networkReceived = parsed(fields[i])
			case "OutOctets":
				p.networkSent = parsed(fields[i])
			}
		}
		names = fields
	}
}

func parsed(text string) float64 {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return -1
	}
	return value
}
