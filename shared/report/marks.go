package report

import (
	"fmt"
	"time"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/mark"
	"github.com/orrery/orrery/shared/wording"
)

// marks sets the changes of settings.
func (b *builder) marks() {
	m, ok := b.metas[Marks]
	if !ok {
		return
	}
	if b.r.Marks = []answer.Mark{}; m.Marks != nil {
		b.r.Marks = *m.Marks
	}
}

// change returns when settings changed, and how, in words.
func (r Report) change(m answer.Mark) (when, what string) {
	at, err := time.Parse(time.RFC3339, m.At)
	if err != nil {
		return wording.Shown(m.At, 40), mark.Words(m)
	}
	return at.In(r.zone).Format("2006-01-02 15:04"), mark.Words(m)
}

// latest returns the changes of settings that a report prints: the last ones.
func (r Report) latest() []answer.Mark { return r.Marks[max(0, len(r.Marks)-listed):] }

// earlierChanges returns the sentence about the changes of settings that a report does not print, or "".
func (r Report) earlierChanges() string {
	if len(r.Marks) <= listed {
		return ""
	}
	return fmt.Sprintf("These are the last %d of %d changes.", listed, len(r.Marks))
}
