package api

import (
	"context"
	"fmt"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/planet"
)

// Message is the answer of a write.
type Message struct {
	Message string `json:"message"`
}

// planets returns the planets as documents. Their routes differ from those of others: there is one planet in a
// configuration, which is never deleted, and clients expect a message as the answer to a write.
func (s *resourceServer) planets() documents {
	return documents{
		resourceServer: s, store: planetStore{s.Planets}, limit: planet.MaxBytes,
		find: func(c *call) (document.ID, error) {
			config, err := entryOf(c)
			return planet.DocumentOf(config), err
		},
		parse: func(_ *call, body []byte) (replacement, error) {
			settings, err := planet.Parse(body)
			if err != nil {
				return nil, err
			}
			return unconditional(settings.Text()), nil
		},
		show: func(_ document.ID, v document.Version) ([]byte, error) { return planet.Stored(v.Text).JSON(), nil },
		written: func(v document.Version, restored int) any {
			switch {
			case restored > 0:
				return Message{fmt.Sprintf("Successfully restored version %d as version %d", restored, v.Number)}
			case v.Number == 1:
				return Message{"Successfully created entry"} // 200, because clients accept no other status
			}
			return Message{"Successfully updated entry"}
		},
	}
}

// planetStore is a store of planets as one of documents without names.
type planetStore struct{ planet.Store }

func (s planetStore) Newest(ctx context.Context, id document.ID) (document.Version, error) {
	v, err := s.Store.Newest(ctx, id.Config)
	return documentOf(v, err)
}

func (s planetStore) Version(ctx context.Context, id document.ID, number int) (document.Version, error) {
	v, err := s.Store.Version(ctx, id.Config, number)
	return documentOf(v, err)
}

func documentOf(v planet.Version, err error) (document.Version, error) {
	if err != nil {
		return document.Version{}, err
	}
	return v.Document(), nil
}

func (s planetStore) Versions(ctx context.Context, id document.ID) ([]document.Info, error) {
	return s.Store.Versions(ctx, id.Config)
}

func (s planetStore) Append(ctx context.Context, id document.ID, v document.Version) error {
	return s.Store.Append(ctx, id.Config, planet.Version{Info: v.Info, Settings: planet.Stored(v.Text)})
}

func (planetStore) List(context.Context, document.Kind, string) ([]document.Named, error) {
	return nil, nil
}
