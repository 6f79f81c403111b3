package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/keys/keysqlite"
	"github.com/orrery/orrery/shared/table/tabledynamo"
)

// Keys is a store of keys that must be closed.
type Keys interface {
	keys.Store
	io.Closer
}

// keysFile is the database of keys in a data folder.
const keysFile = "keys.db"

// OpenKeys opens the keys of a data folder, and creates the folder if it does not exist. If the keys exist but cannot
// be read, it returns an error, because a server without keys would allow every caller.
func OpenKeys(ctx context.Context, data string) (Keys, error) {
	if err := makeFolder(data); err != nil {
		return nil, err
	}
	path := filepath.Join(data, keysFile)
	refusal := errReadOnly
	if !readOnly(data) {
		opened, err := keysqlite.Open(ctx, path)
		if !fault.IsFull(err) {
			return asKeys(opened, err)
		}
		refusal = fault.Wrap(fault.Full, err, "the disk is full, so nothing was written")
	}
	k := &existingKeys{path: path, refusal: refusal}
	if _, err := k.open(ctx); err != nil {
		return nil, err
	}
	return k, nil
}

// asKeys converts a store to Keys; a nil store becomes nil Keys.
func asKeys(s *keysqlite.Store, err error) (Keys, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// existingKeys are the keys of a folder in which the file of keys cannot be created: the folder is read-only, or the
// disk is full. There are none until the file exists. A program with more permissions, or with more space, may create
// it at any time, and from then on callers need a key.
type existingKeys struct {
	path    string
	refusal error // why keys cannot be created

	mu    sync.Mutex
	store *keysqlite.Store // nil: there is no file yet
}

// open returns the store of the file, or noKeys if there is none.
func (k *existingKeys) open(ctx context.Context) (keys.Store, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.store != nil {
		return k.store, nil
	}
	info, err := os.Stat(k.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 { // an attempt to create it has failed
		return noKeys{}, nil
	}
	if k.store, err = keysqlite.OpenReadOnly(ctx, k.path); err != nil {
		return nil, err
	}
	return k.store, nil
}

// Create implements keys.Store.
func (k *existingKeys) Create(context.Context, keys.Key) error { return k.refusal }

// List implements keys.Store.
func (k *existingKeys) List(ctx context.Context) ([]keys.Key, error) {
	store, err := k.open(ctx)
	if err != nil {
		return nil, err
	}
	return store.List(ctx)
}

// Find implements keys.Store.
func (k *existingKeys) Find(ctx context.Context, id string) (keys.Key, error) {
	store, err := k.open(ctx)
	if err != nil {
		return keys.Key{}, err
	}
	return store.Find(ctx, id)
}

// Revoke implements keys.Store.
func (k *existingKeys) Revoke(ctx context.Context, id string, at time.Time) error {
	store, err := k.open(ctx)
	if err != nil {
		return err
	}
	return store.Revoke(ctx, id, at)
}

// Close closes the file.
func (k *existingKeys) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.store == nil {
		return nil
	}
	return k.store.Close()
}

// OpenTableKeys opens the keys of a deployment in AWS by the name of its table. The configuration of the SDK
// (AWS_PROFILE, AWS_REGION, AWS_ENDPOINT_URL …) sets the region, the endpoint and the credentials.
func OpenTableKeys(ctx context.Context, table string) (Keys, error) {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the AWS configuration: %w", err)
	}
	if cfg.Region == "" {
		return nil, errors.New(
			"the region of the table is unknown: set AWS_REGION, or AWS_PROFILE to a profile with one",
		)
	}
	return tableKeys{keys.Over(tabledynamo.New(tabledynamo.NewClient(cfg), table))}, nil
}

type tableKeys struct{ *keys.Items }

func (tableKeys) Close() error { return nil }

// noKeys is the store of a folder without a file of keys.
type noKeys struct{}

func (noKeys) Create(context.Context, keys.Key) error { return errReadOnly }

func (noKeys) List(context.Context) ([]keys.Key, error) { return nil, nil }

func (noKeys) Find(_ context.Context, id string) (keys.Key, error) {
	return keys.Key{}, keys.NotFound(id)
}

func (noKeys) Revoke(_ context.Context, id string, _ time.Time) error { return keys.NotFound(id) }
