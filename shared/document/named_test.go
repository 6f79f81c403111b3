package document_test

import (
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/document"
)

func TestValidName(t *testing.T) {
	for name, want := range map[string]bool{
		"bots": true, "a-1": true, strings.Repeat("a", 64): true,
		"": false, "Bots": false, "a b": false, "a/b": false, "a#b": false, "a\n": false, strings.Repeat("a", 65): false,
	} {
		if got := document.ValidName(name); got != want {
			t.Errorf("ValidName(%q) = %v", name, got)
		}
	}
}

func TestJSON(t *testing.T) {
	got := document.JSON(map[string]string{"filters": `url="<a&b>"`})
	if want := `{"filters":"url=\"<a&b>\""}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
