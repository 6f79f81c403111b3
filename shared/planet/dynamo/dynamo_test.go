package dynamo

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/orrery/orrery/shared/dynamo"
	"github.com/orrery/orrery/shared/dynamo/dynamotest"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/planet/planettest"
)

func at() time.Time { return planettest.At }

func open(t testing.TB, options ...func(*dynamodb.Options)) *Store {
	t.Helper()
	client, table := dynamotest.Client(t, options...)
	return over(client, table)
}

// over is a store that does not wait.
func over(client *dynamodb.Client, table string) *Store {
	s := New(client, table, at)
	s.pause = func(ctx context.Context, _ int) error { return ctx.Err() }
	return s
}

func TestStore(t *testing.T) {
	planettest.Run(t, func(t *testing.T) planet.Store { return open(t) })
}

func TestSeveralInstancesRace(t *testing.T) {
	client, table := dynamotest.Client(t)
	planettest.Race(t, over(client, table), over(dynamotest.Connect(t), table), over(dynamotest.Connect(t), table))
}

// TestANewDeploymentHasTheDefaultPlanet whichever way it is asked for first, and gets it once.
func TestANewDeploymentHasTheDefaultPlanet(t *testing.T) {
	want := planet.NewVersion(1, planet.Default(), "orrery", planettest.At)
	for name, ask := range map[string]func(*Store) error{
		"its_newest_version": func(s *Store) error { _, err := s.Newest(t.Context(), planet.FirstConfig); return err },
		"its_first_version":  func(s *Store) error { _, err := s.Version(t.Context(), planet.FirstConfig, 1); return err },
		"its_history":        func(s *Store) error { _, err := s.Versions(t.Context(), planet.FirstConfig); return err },
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			for range 2 {
				if err := ask(s); err != nil {
					t.Fatal(err)
				}
			}
			if v, err := s.Newest(t.Context(), planet.FirstConfig); err != nil || v != want {
				t.Errorf("%+v, %v, want %+v", v, err, want)
			}
			if list, err := s.Versions(t.Context(), planet.FirstConfig); err != nil || len(list) != 1 {
				t.Errorf("%d versions, %v", len(list), err)
			}
		})
	}
	t.Run("a_write_comes_second", func(t *testing.T) {
		s := open(t)
		info, err := planet.Put(t.Context(), s, planet.FirstConfig, planet.Change{Settings: planettest.Settings(t, "mine"), By: "key", At: planettest.At})
		if err != nil || info.Number != 2 {
			t.Errorf("version %d, %v, want 2", info.Number, err)
		}
	})
	t.Run("no_other_version", func(t *testing.T) {
		if _, err := open(t).Version(t.Context(), planet.FirstConfig, 2); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%v, want kind NotFound", err)
		}
	})
}

// TestTheLargestSettingsFit: 350,000 bytes of whatever takes most room in an item and on the wire.
func TestTheLargestSettingsFit(t *testing.T) {
	s := open(t)
	for name, filling := range map[string]string{
		"letters":             "x",
		"four_byte_runes":     "\U0001F6F0",
		"escapes":             `\"`,
		"escaped_backslashes": `\\`,
	} {
		t.Run(name, func(t *testing.T) {
			body := `{"name":"n","trusted_nets":[],"ichallenge":{"attrs":{"logo":"%s"},"lang":{},"palette":[],"position":{}}}`
			room := planet.MaxBytes - len(body) + len("%s")
			logo := strings.Repeat(filling, room/len(filling))
			body = fmt.Sprintf(body, logo)
			body = body[:len(body)-1] + strings.Repeat(" ", planet.MaxBytes-len(body)) + "}"
			settings, err := planet.Parse([]byte(body))
			if err != nil || len(settings.Text()) < planet.MaxBytes-4 || !utf8.ValidString(body) {
				t.Fatalf("%d bytes, %v", len(settings.Text()), err)
			}
			if _, err := planet.Put(t.Context(), s, name, planet.Change{Settings: settings, By: strings.Repeat("k", 64), At: planettest.At}); err != nil {
				t.Fatal(err)
			}
			if v, err := s.Newest(t.Context(), name); err != nil || v.Settings != settings {
				t.Errorf("%d bytes came back, %v", len(v.Settings.Text()), err)
			}
		})
	}
}

// TestALongHistoryIsListedWithoutItsSettings: 2,000 versions of 20 kB are 40 MB of settings; the list takes a hundredth
// of that off the wire.
func TestALongHistoryIsListedWithoutItsSettings(t *testing.T) {
	const versions = 2000
	client, table := dynamotest.Client(t)
	s := over(client, table)
	settings := planettest.Settings(t, strings.Repeat("x", 20_000))
	for n := 1; n <= versions; n++ {
		if err := s.Append(t.Context(), "long", planet.NewVersion(n, settings, "key", planettest.At)); err != nil {
			t.Fatal(err)
		}
	}
	reads := 0
	counted := over(dynamotest.Connect(t, func(o *dynamodb.Options) { o.HTTPClient = &counting{&reads} }), table)
	list, err := counted.Versions(t.Context(), "long")
	if err != nil || len(list) != versions {
		t.Fatalf("%d versions, %v", len(list), err)
	}
	for i, info := range list {
		if want := planet.NewVersion(versions-i, settings, "key", planettest.At).Info; info != want {
			t.Fatalf("%+v, want %+v", info, want)
		}
	}
	if most := versions * 400; reads > most {
		t.Errorf("the list took %d bytes, at most %d are metadata", reads, most)
	}
	if v, err := s.Newest(t.Context(), "long"); err != nil || v.Number != versions {
		t.Errorf("the newest is %d, %v", v.Number, err)
	}
}

// TestAnItemOfAnotherShapeIsAnError and not an empty planet.
func TestAnItemOfAnotherShapeIsAnError(t *testing.T) {
	client, table := dynamotest.Client(t)
	s := over(client, table)
	for _, key := range []string{infoKey(1), settingsKey(1)} {
		item := dynamo.NewItem(partition("odd"), key, dynamo.Item{numberAttribute: dynamo.String("one")})
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item}); err != nil {
			t.Fatal(err)
		}
	}
	for name, read := range map[string]func() error{
		"Newest":   func() error { _, err := s.Newest(t.Context(), "odd"); return err },
		"Version":  func() error { _, err := s.Version(t.Context(), "odd", 1); return err },
		"Versions": func() error { _, err := s.Versions(t.Context(), "odd"); return err },
	} {
		if err := read(); err == nil || fault.KindOf(err) != fault.Internal || !strings.Contains(err.Error(), "planet#odd") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
