package search

import (
	"reflect"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/query"
)

// TestTopXLabelsAreDocumented checks that the OpenAPI document has the same labels as the answers.
func TestTopXLabelsAreDocumented(t *testing.T) {
	label, _ := reflect.TypeFor[TopXResult]().FieldByName("Label")
	if got, want := label.Tag.Get("enum"), strings.Join(query.Labels, ","); got != want {
		t.Errorf("the labels are documented as %s, want %s", got, want)
	}
}
