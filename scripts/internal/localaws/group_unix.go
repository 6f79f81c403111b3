//go:build unix

package localaws

import (
	"os/exec"
	"syscall"
)

// group makes a command run in its own process group, so that Ctrl-C in a terminal does not reach it. When the
// command's context ends, the whole group is terminated.
func group(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGTERM) }
}

// killGroup kills the remaining processes of a command's group.
func killGroup(command *exec.Cmd) {
	if command.Process != nil {
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) // fails if no process is left
	}
}
