package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Console holds the streams of a command. Answers go to out, everything else to err.
type Console struct {
	In       io.Reader
	Out, Err io.Writer
}

// Shown returns where an answer goes: to out as it is, so that programs read it exactly, but printable if out is a
// terminal.
func (c Console) Shown() io.Writer {
	if Is(c.Out) {
		return PrintableWriter{To: c.Out}
	}
	return c.Out
}

// Confirms asks a question on the terminal and reports whether the answer is yes. Without a terminal it reports false.
// If ctx ends before the answer, it returns the error of ctx.
func (c Console) Confirms(ctx context.Context, question string) (bool, error) {
	if !Is(c.In) || !Is(c.Err) {
		return false, nil
	}
	fmt.Fprintf(c.Err, "%s [y/N] ", Printable(question))
	type line struct {
		text string
		err  error
	}
	lines := make(chan line, 1) // the reader cannot be interrupted; nothing waits for it
	go func() {
		text, err := bufio.NewReader(c.In).ReadString('\n')
		lines <- line{text, err}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(c.Err) // ends the line of the question
		return false, ctx.Err()
	case answer := <-lines:
		if answer.err != nil && !errors.Is(answer.err, io.EOF) {
			return false, fmt.Errorf("read the answer: %w", answer.err)
		}
		text := strings.ToLower(strings.TrimSpace(answer.text))
		return text == "y" || text == "yes", nil
	}
}
