package local_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/orrery/orrery/scripts/internal/local"
)

// childFolder names the data folder that a child process opens. Then it prints a line and waits.
const childFolder = "ORRERY_TEST_CHILD_FOLDER"

func TestMain(m *testing.M) {
	workInChild()
	if folder := os.Getenv(childFolder); folder != "" {
		product, err := local.Open(context.Background(), folder)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println("open")
		_, _ = io.Copy(io.Discard, os.Stdin) // until the parent kills this process, or has ended
		runtime.KeepAlive(product)           // and with it the lock on its folder
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// spills lists the folders for temporary files of queries in a data folder.
func spills(t *testing.T, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(folder, "spill"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestSpillOfEachProcess: processes with the same data folder write temporary files into different folders. One that
// ends removes its own, and the next one that starts removes those of processes that were killed.
func TestSpillOfEachProcess(t *testing.T) {
	folder := t.TempDir()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childFolder+"="+folder)
	child.Stderr = os.Stderr
	_, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "open\n" {
		t.Errorf("the other process printed %q, %v", line, err)
	}
	others := spills(t, folder)
	if len(others) != 1 {
		t.Fatalf("the other process has the folders %v", others)
	}
	openProduct(t, folder)
	second, err := local.Open(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	if all := spills(t, folder); len(all) != 3 {
		t.Errorf("three processes have the folders %v", all)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	if all := spills(t, folder); len(all) != 2 {
		t.Errorf("two processes have the folders %v", all)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(); err == nil {
		t.Error("the other process ended by itself")
	}
	if all := spills(t, folder); len(all) != 2 {
		t.Errorf("after the end of the other process there are %v", all)
	}
	openProduct(t, folder)
	all := spills(t, folder)
	if len(all) != 2 {
		t.Errorf("two processes have the folders %v", all)
	}
	for _, name := range all {
		if name == others[0] {
			t.Error("the folder of a process that was killed is left")
		}
	}
}
