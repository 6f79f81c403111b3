//go:build unix

package localaws

import (
	"os/exec"
	"syscall"
)

// group runs a command in a process group of its own: Ctrl-C in a terminal does not reach it. The end of the command's
// context terminates the whole group.
func group(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGTERM) }
}

// killGroup kills what is left of a command's group.
func killGroup(command *exec.Cmd) {
	if command.Process != nil {
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) // fails where nothing is left
	}
}
