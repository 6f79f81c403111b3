package documentdynamo

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/document/documenttest"
	"github.com/orrery/orrery/shared/dynamotable"
	"github.com/orrery/orrery/shared/dynamotable/dynamotest"
	"github.com/orrery/orrery/shared/fault"
)

// over returns a store that does not wait between retries.
func over(client *dynamodb.Client, table string) *Store {
	s := New(client, table)
	s.Pause = func(ctx context.Context, _ int) error { return ctx.Err() }
	return s
}

func TestStore(t *testing.T) {
	documenttest.Run(t, func(t *testing.T) document.Store {
		client, table := dynamotest.Client(t)
		return over(client, table)
	})
}

func TestSeveralInstancesRace(t *testing.T) {
	client, table := dynamotest.Client(t)
	documenttest.Race(t, over(client, table), over(dynamotest.Connect(t), table), over(dynamotest.Connect(t), table))
}

// TestListHasSeveralPages: DynamoDB returns at most a megabyte at once.
func TestListHasSeveralPages(t *testing.T) {
	client, table := dynamotest.Client(t)
	s := over(client, table)
	text := strings.Repeat("x", 100_000)
	for n := range 30 {
		name := "n" + strings.Repeat("o", n)
		one := document.ID{Kind: "note", Config: "c", Name: name}
		if err := s.Append(t.Context(), one, document.NewVersion(1, text, "key", documenttest.At)); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := s.List(t.Context(), "note", "c"); err != nil || len(list) != 30 || list[29].Text != text {
		t.Errorf("%d documents, %v", len(list), err)
	}
}

// TestConfigurations: the configurations of a kind are those with a document of it that has a name, or had one.
func TestConfigurations(t *testing.T) {
	client, table := dynamotest.Client(t)
	s := over(client, table)
	if list, err := s.Configurations(t.Context(), "note"); err != nil || len(list) > 0 {
		t.Errorf("an empty table: %v, %v", list, err)
	}
	change := document.Change{Text: "{}", By: "key", At: documenttest.At}
	for _, id := range []document.ID{
		{Kind: "note", Config: "staging", Name: "a"}, {Kind: "note", Config: "prod", Name: "a"},
		{Kind: "note", Config: "prod", Name: "b"}, {Kind: "other", Config: "test", Name: "a"},
		{Kind: "note", Config: "nameless"},
	} {
		for range 2 {
			if _, err := document.Put(t.Context(), s, id, change); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := document.Delete(t.Context(), s, document.ID{Kind: "note", Config: "staging", Name: "a"}, change); err != nil {
		t.Fatal(err)
	}
	list, err := s.Configurations(t.Context(), "note")
	if got := strings.Join(list, " "); err != nil || got != "prod staging" {
		t.Errorf("%s, %v", got, err)
	}
}

// TestMalformedItemIsAnError: a malformed item is not left out of the list.
func TestMalformedItemIsAnError(t *testing.T) {
	client, table := dynamotest.Client(t)
	item := dynamotable.NewItem("note#c", "head#n", dynamotable.Item{"number": dynamotable.String("one")})
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item}); err != nil {
		t.Fatal(err)
	}
	_, err := over(client, table).List(t.Context(), "note", "c")
	if err == nil || fault.KindOf(err) != fault.Internal || !strings.Contains(err.Error(), "note#c head#n") {
		t.Errorf("List: %v", err)
	}
}

// TestItems pins the keys and attributes of items, because deployments have stored such items.
func TestItems(t *testing.T) {
	v := document.NewVersion(12, `{"a":1}`, "key", documenttest.At)
	planet := document.ID{Kind: "planet", Config: "prod"}
	filter := document.ID{Kind: "filter", Config: "prod", Name: "bots"}
	info := "at_ms,by,bytes,etag,mark,number,pk,sk"
	text := "at_ms,by,bytes,etag,number,pk,settings,sk"
	for _, test := range []struct {
		item                  dynamotable.Item
		pk, sk, attributeList string
	}{
		{headItem(planet, v), "planet#prod", "head", "number,pk,sk"},
		{infoItem(planet, v.Info, "m"), "planet#prod", "info#0000000012", info},
		{textItem(planet, versionKey(settingsPrefix, planet, 12), v), "planet#prod", "settings#0000000012", text},
		{headItem(filter, v), "filter#prod", "head#bots", text},
		{configItem(filter), "configurations#filter", "config#prod", "pk,sk"},
		{infoItem(filter, v.Info, "m"), "filter#prod", "info#bots#0000000012", info},
		{textItem(filter, versionKey(settingsPrefix, filter, 12), v), "filter#prod", "settings#bots#0000000012", text},
	} {
		t.Run(test.pk+" "+test.sk, func(t *testing.T) {
			r := dynamotable.Read(test.item)
			if pk, sk := r.String("pk"), r.String("sk"); pk != test.pk || sk != test.sk {
				t.Errorf("key %s %s", pk, sk)
			}
			if got := strings.Join(slices.Sorted(maps.Keys(test.item)), ","); got != test.attributeList {
				t.Errorf("attributes %s, want %s", got, test.attributeList)
			}
		})
	}
}
