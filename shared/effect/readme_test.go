package effect

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestREADME: the README has the numbers of the rules.
func TestREADME(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	page := strings.Join(strings.Fields(string(text)), " ")
	for _, want := range []string{
		fmt.Sprintf("it blocked at least %d requests more or fewer than expected", Least),
		fmt.Sprintf("is at least %d times its variance, or %d times if one of the two numbers is at least %d times the other", Clear, Sharp, Times),
		fmt.Sprintf("all rules that explain something, and %d others", Most),
	} {
		if !strings.Contains(page, want) {
			t.Errorf("README.md does not say: %s", want)
		}
	}
}
