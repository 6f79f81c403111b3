package tabletest

import (
	"encoding/json"
	"os"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/table"
)

// Load returns a table with the items of a file, which has them in the JSON of DynamoDB's protocol.
func Load(t testing.TB, path string) *Memory {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var items []map[string]wireValue
	if err := json.Unmarshal(text, &items); err != nil {
		t.Fatal(err)
	}
	m := &Memory{items: map[table.Key]table.Attributes{}}
	for _, item := range items {
		attributes := table.Attributes{}
		for name, value := range item {
			attributes[name] = value.plain(t)
		}
		partition, _ := attributes["pk"].(string)
		sort, _ := attributes["sk"].(string)
		delete(attributes, "pk")
		delete(attributes, "sk")
		m.items[table.Key{Partition: partition, Sort: sort}] = attributes
	}
	return m
}

// wireValue is the value of an attribute in DynamoDB's protocol.
type wireValue struct {
	S *string
	N *string
	B []byte
	L []wireValue
}

func (v wireValue) plain(t testing.TB) any {
	t.Helper()
	switch {
	case v.S != nil:
		return *v.S
	case v.N != nil:
		n, err := strconv.ParseInt(*v.N, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	case v.B != nil:
		return v.B
	}
	list := make([]string, len(v.L))
	for i, one := range v.L {
		list[i] = one.plain(t).(string)
	}
	return list
}

// Items returns all items, in the order of their keys.
func (m *Memory) Items() []table.Item { return m.all(func(table.Key) bool { return true }) }

// Equal checks that a table has the items of a file. Attributes with random values are compared by their types only.
func Equal(t testing.TB, m *Memory, path string, random ...string) {
	t.Helper()
	want, got := Load(t, path).Items(), m.Items()
	for _, items := range [][]table.Item{want, got} {
		for _, item := range items {
			for _, name := range random {
				switch value := item.Attributes[name].(type) {
				case string:
					item.Attributes[name] = "random"
				case []byte:
					item.Attributes[name] = []byte("random")
				case nil:
				default:
					t.Fatalf("%v has %T %s", item.Key, value, name)
				}
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
}
