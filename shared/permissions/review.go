package permissions

import (
	"fmt"
	"slices"
	"strings"
)

// Atom is the smallest part of a grant that can be removed: one action on one pattern of a place.
type Atom struct {
	Task    string
	On      Place
	Pattern string // "" for a place without patterns
	Action  string
}

func (a Atom) String() string {
	if a.Pattern == "" {
		return fmt.Sprintf("%s: %s on %s", a.Task, a.Action, a.On)
	}
	return fmt.Sprintf("%s: %s on %s %s", a.Task, a.Action, a.On, a.Pattern)
}

// Calls holds the calls of functions by the functions' names.
type Calls map[string][]Call

// Review compares the grants with all calls that functions were seen to make. Each atom is removed in turn: if every
// call is still allowed, nothing uses it. An unused atom must be among the exceptions; an exception must be unused.
// Atoms that judged rejects are left out; nil judges all. The returned mistakes are sorted.
func Review(in Resources, calls Calls, judged func(Atom) bool) []string {
	var mistakes []string
	for _, task := range tasks() {
		for _, atom := range atomsOf(task) {
			if judged != nil && !judged(atom) {
				continue
			}
			used, excepted := in.uses(calls, atom), atom.exception() != nil
			switch {
			case used && excepted:
				mistakes = append(mistakes, fmt.Sprintf("%s: a function uses it, so it must not be an exception", atom))
			case !used && !excepted:
				mistakes = append(mistakes, fmt.Sprintf("%s: nothing uses it", atom))
			}
		}
	}
	slices.Sort(mistakes)
	return mistakes
}

// atomsOf returns the atoms of a task.
func atomsOf(task Task) []Atom {
	var atoms []Atom
	for _, g := range task.Grants {
		patterns := g.Of
		if patterns == nil {
			patterns = []string{""}
		}
		for _, pattern := range patterns {
			for _, action := range g.Actions {
				atoms = append(atoms, Atom{task.Name, g.On, pattern, action})
			}
		}
	}
	return atoms
}

// uses reports whether a call is allowed that would not be without the atom.
func (in Resources) uses(calls Calls, atom Atom) bool {
	for function, made := range calls {
		tasks := TasksOf(function)
		if !slices.ContainsFunc(tasks, func(t Task) bool { return t.Name == atom.Task }) {
			continue
		}
		rest := joined(without(tasks, atom))
		needs := func(c Call) bool {
			return strings.EqualFold(c.Action, atom.Action) && in.Allowed(function, c) && !in.allowed(rest, c)
		}
		if slices.ContainsFunc(made, needs) {
			return true
		}
	}
	return false
}

// without returns the grants of tasks, each split into single actions, without an atom.
func without(tasks []Task, removed Atom) []Grant {
	var grants []Grant
	for _, task := range tasks {
		for _, g := range task.Grants {
			for _, action := range g.Actions {
				patterns := g.Of
				if task.Name == removed.Task && g.On == removed.On && action == removed.Action {
					isRemoved := func(pattern string) bool { return pattern == removed.Pattern }
					patterns = slices.DeleteFunc(slices.Clone(g.Of), isRemoved)
					if len(patterns) == 0 {
						continue
					}
				}
				grants = append(grants, Grant{g.On, patterns, []string{action}})
			}
		}
	}
	return grants
}

// exception returns the exception that an atom falls under, or nil.
func (a Atom) exception() *Exception {
	i := slices.IndexFunc(Exceptions, func(e Exception) bool { return e.covers(a) })
	if i < 0 {
		return nil
	}
	return &Exceptions[i]
}
