package pattern

import (
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
)

// The atoms of random patterns, and texts that distinguish the difficult ones.
var (
	regexAtoms = []string{
		"a", "b", "A", "k", "K", "s", "ß", "é", "ſ", ".", "^", "$", `\b`, `\B`, `\w`, `\W`, `\d`, `\s`, `\S`,
		"[a-c]", "[^a-c]", `[\w-]`, "[a&&b]", "[[a]", `\.`, `[[:^alpha:]]`, `\pL`, `\PL`, `\x{e9}`, `\Qa.b\E`,
		`\A`, `\z`, `\n`, "-", "_", " ", "]", "{", "0", "#",
		"(?i)", "(?s)", "(?m)", "(?U)", "(?i:s)", "(?-i)", "(?s:.)", "(?m:^)", "(?m:$)", "(?:)",
		"[^\\x00-\\x{10FFFF}]", "/", ":", "[:a]", "ﬁ", `\[`, `[[:alpha:]]`, `\p{Greek}`, "é?",
	}
	regexTexts = []string{
		"", "a", "b", "A", "k", "K", "\u212a", "s", "S", "ſ", "ß", "ss", "é", "É", "\n", "\r", " ", "\v", "\u00a0",
		"[", "&", "]", "-", "_", "0", "٣", ".", "{", "#", "😀", "a.b", "a\nb", "ab", "aab", "ba", "bab", ":", "/", "ﬁ", "α",
	}
)

func randomPattern(r *rand.Rand, depth int) string {
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	sub := func() string { return randomPattern(r, depth-1) }
	switch k := r.IntN(10); {
	case depth == 0 || k < 4:
		return pick(regexAtoms)
	case k < 7:
		return sub() + sub()
	case k < 8:
		return sub() + "|" + sub()
	case k < 9:
		return "(?:" + sub() + ")" + pick([]string{"*", "+", "?", "*?", "{2}", "{1,}", "{0,2}", "{1,3}", "{0}"})
	}
	return pick([]string{"(", "(?i:", "(?P<n>", "(?:"}) + sub() + ")"
}

// TestCanonicalRegexMatchesSameTexts compares random patterns with their canonical form.
func TestCanonicalRegexMatchesSameTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	r := rand.New(rand.NewPCG(1, 2))
	compared := 0
	for range 8000 {
		if checkCanonical(t, randomPattern(r, 4), false, regexTexts) {
			compared++
		}
	}
	if compared < 4000 {
		t.Errorf("only %d random patterns are valid", compared)
	}
}

// FuzzRegex compares any pattern with its canonical form, on any text.
func FuzzRegex(f *testing.F) {
	for i, atom := range regexAtoms {
		f.Add(atom, regexTexts[i%len(regexTexts)], i%2 == 0)
	}
	for _, pattern := range []string{
		`((\pL{100}){9})`, `^(?:/a|/b)c?$`, `(a)\1`, `(?=a)`, `a++`, `x{1001}`,
		`(`, `[`, `a)`, `\Q(`, `[^]a]`, `(?P<n`,
	} {
		f.Add(pattern, "/ac", false)
	}
	f.Fuzz(func(t *testing.T, pattern, text string, fold bool) {
		checkCanonical(t, pattern, fold, []string{text})
	})
}

func checkCanonical(t *testing.T, pattern string, fold bool, texts []string) bool {
	t.Helper()
	got, exact, problem := Parse(pattern, fold)
	if problem != nil {
		if problem.Offset < 0 || problem.Length < 0 || problem.Offset+problem.Length > len(pattern) {
			t.Fatalf("%q: the problem %+v is outside the pattern", pattern, problem)
		}
		if _, err := regexp.Compile(pattern); err == nil && problem.Code != TooLarge {
			t.Fatalf("%q is refused: %+v", pattern, problem)
		}
		return false
	}
	written := pattern
	if fold {
		written = "(?i)" + pattern
	}
	original := regexp.MustCompile(written)
	for _, text := range texts {
		want := original.MatchString(text)
		if is := got.MatchString(text); is != want {
			t.Fatalf("%q matches %q: %v; its canonical form %q: %v", written, text, want, got.Canonical, is)
		}
		if exact != nil && !fold && slices.Contains(exact, text) != want {
			t.Fatalf("%q matches %q: %v, but its exact texts are %q", pattern, text, want, exact)
		}
	}
	return true
}

// TestPatternsAreCompiledWhenTheyAreUsed: a query that waits, or that another engine answers, takes no memory for
// programs.
func TestPatternsAreCompiledWhenTheyAreUsed(t *testing.T) {
	pattern, _, problem := Parse("^a+$", false)
	if problem != nil || pattern.compiled != nil {
		t.Fatalf("%+v, %v", problem, pattern.compiled)
	}
	if !pattern.MatchString("aa") || pattern.MatchString("ab") || pattern.compiled == nil {
		t.Error("it does not match as it should")
	}
}

// TestRegexSizeLimit checks patterns around the limit. DuckDB 1.5.5 accepts \pL 445 times and refuses it 446 times.
func TestRegexSizeLimit(t *testing.T) {
	for pattern, fits := range map[string]bool{
		`(\pL{100}){3}`:                           true,
		`(\pL{100}){4}`:                           false,
		`((\pL{100}){9})`:                         false,
		`.{1000}.{1000}.{1000}`:                   true,
		strings.Repeat("a", maxPattern):           true,
		strings.Repeat("a", maxPattern+1):         false,
		`(` + strings.Repeat("a", 600) + `){900}`: false,
		`((\pL{0,}){30}){30}`:                     false,
		`(?i)` + strings.Repeat("k", 4000):        true,
	} {
		_, _, problem := Parse(pattern, false)
		if (problem == nil) != fits {
			t.Errorf("%.40s: problem %v, want accepted %v", pattern, problem, fits)
		}
		if problem != nil && problem.Code != TooLarge {
			t.Errorf("%.40s is refused with code %s", pattern, problem.Code)
		}
	}
}

// TestProgramSizeIsUpperBound compares with Go's own programs over ASCII, where an instruction is a byte.
func TestProgramSizeIsUpperBound(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		pattern := randomPattern(r, 5)
		tree, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			continue
		}
		program, err := syntax.Compile(tree.Simplify())
		if err != nil {
			t.Fatal(err)
		}
		if size := programSize(tree); size+2 < len(program.Inst) { // Go adds an instruction at the start and at the end
			t.Errorf("%q: %d instructions, counted %d", pattern, len(program.Inst), size)
		}
	}
}
