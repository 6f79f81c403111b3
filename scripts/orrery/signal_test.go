//go:build unix

package main

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
)

// handleHangup gives commands that the tests start the default action for SIGHUP, even if the tests run under nohup:
// exec resets a signal that is handled, but not one that is ignored.
func handleHangup() {
	if signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
}

func TestSignalsInterrupt(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(s.String(), func(t *testing.T) {
			checkInterrupted(t, startGenerate(t, ""), s)
		})
	}
	t.Run("SIGHUP does not interrupt a command under nohup", func(t *testing.T) {
		command := startGenerate(t, "trap '' HUP; ")
		if err := command.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond) // enough for an interrupted command to end
		checkInterrupted(t, command, syscall.SIGTERM)
	})
}

// startGenerate starts a command that runs for hours. The shell runs before first.
func startGenerate(t *testing.T, before string) *exec.Cmd {
	t.Helper()
	handleHangup()
	folder := t.TempDir()
	command := exec.Command("sh", "-c", before+`exec "$@"`, "sh", buildBinary(t), "generate", "--records", "1000000000",
		"--from", "2026-01-01", "--to", "2026-01-02", "--output", filepath.Join(folder, "records.ndjson"))
	command.Env = environment()
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill() })
	for range 6000 {
		if files, err := os.ReadDir(folder); err == nil && len(files) > 0 { // the command has started to write
			return command
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the command does not start to write")
	return nil
}

func checkInterrupted(t *testing.T, command *exec.Cmd, s syscall.Signal) {
	t.Helper()
	if err := command.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait() // its state has the exit code
	if code := command.ProcessState.ExitCode(); code != exit.Interrupted {
		t.Errorf("exit code %d: %s", code, command.ProcessState)
	}
}
