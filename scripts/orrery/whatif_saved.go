package main

import (
	"context"
	"regexp"
	"strings"

	"github.com/orrery/orrery/scripts/orrery/internal/question"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/client"
)

// savedConditions matches a rule whose conditions begin with names of saved filters: where @bots, @shop, path="/".
var savedConditions = regexp.MustCompile(`(?s)\A([^"{]*? where )(@[^\s,]+(?:\s*,\s*@[^\s,]+)*)\s*(?:,\s*(.*))?\z`)

// withConditions returns a rule with the conditions of the saved filters that its own ones begin with.
func (w *whatIfCommand) withConditions(
	ctx context.Context, server *client.Client, rule string, c terminal.Console,
) (string, error) {
	parts := savedConditions.FindStringSubmatch(rule)
	if parts == nil {
		return rule, nil
	}
	var filters []string
	for name := range strings.SplitSeq(parts[2], ",") {
		filters = append(filters, strings.TrimSpace(name))
	}
	if parts[3] != "" {
		filters = append(filters, parts[3])
	}
	conditions, err := question.WithSaved(ctx, server, w.Config, filters, c)
	return parts[1] + conditions, err
}
