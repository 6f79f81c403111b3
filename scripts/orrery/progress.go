package main

import (
	"io"

	"github.com/schollz/progressbar/v3"
)

// newProgress is a bar on a terminal and nothing elsewhere: total is in units of what is counted, or -1 when
// it is not known. The caller finishes it with Finish or Exit.
func newProgress(w io.Writer, total int64, what string, bytes bool) *progressbar.ProgressBar {
	return progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetVisibility(isTerminal(w)),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowBytes(bytes),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionThrottle(65_000_000), // ns: about 15 times a second
	)
}

// show moves the bar to n. A bar that cannot be drawn is no reason to stop the work.
func show(bar *progressbar.ProgressBar, n int64) { _ = bar.Set64(n) }
