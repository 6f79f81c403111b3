package terminal

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// Steps shows the progress of `orrery up`: a line for each step that is done and, on terminals only, a last line
// with the steps that are running.
type Steps struct {
	mu      sync.Mutex
	w       io.Writer
	moving  bool // whether w is a terminal
	began   time.Time
	running []string
	ended   chan struct{} // closed by stop
	once    sync.Once
}

// NewSteps returns a screen that draws its last line until stop is called.
func NewSteps(w io.Writer) *Steps {
	s := &Steps{w: w, moving: Is(w), began: time.Now(), ended: make(chan struct{})}
	if s.moving {
		go s.redraw()
	}
	return s
}

func (s *Steps) redraw() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-s.ended:
			return
		case <-tick.C:
			s.update(func() {})
		}
	}
}

// Step shows that a step began or is done.
func (s *Steps) Step(name string, done bool) {
	s.update(func() {
		if !done {
			s.running = append(s.running, name)
			return
		}
		s.running = slices.DeleteFunc(s.running, func(other string) bool { return other == name })
		fmt.Fprintf(s.w, "%4d s  %s: done\n", s.seconds(), name)
	})
}

// Line prints a line.
func (s *Steps) Line(text string) {
	s.update(func() { fmt.Fprintln(s.w, text) })
}

// Stop removes the line with the running steps.
func (s *Steps) Stop() {
	s.update(func() { s.running = nil })
	s.once.Do(func() { close(s.ended) })
}

// update prints what a function prints, above the last line. It ignores errors, because a line that cannot be printed
// must not stop the deployment.
func (s *Steps) update(print func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.moving {
		fmt.Fprint(s.w, "\r\x1b[K")
	}
	print()
	if s.moving && len(s.running) > 0 {
		fmt.Fprintf(s.w, "%4d s  %s …", s.seconds(), strings.Join(s.running, ", "))
	}
}

func (s *Steps) seconds() int { return int(time.Since(s.began).Seconds()) }
