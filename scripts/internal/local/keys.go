package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/orrery/orrery/shared/dynamotable"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/keys/keydynamo"
	"github.com/orrery/orrery/shared/keys/keysqlite"
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
	if writable(data) {
		return asKeys(keysqlite.Open(ctx, path))
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return noKeys{}, nil
	}
	return asKeys(keysqlite.OpenReadOnly(ctx, path))
}

// asKeys converts a store to Keys; a nil store becomes nil Keys.
func asKeys(s *keysqlite.Store, err error) (Keys, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// OpenTableKeys opens the keys of a deployment in AWS by the name of its table. The configuration of the SDK
// (AWS_PROFILE, AWS_REGION, AWS_ENDPOINT_URL …) sets the region, the endpoint and the credentials.
func OpenTableKeys(ctx context.Context, table string) (Keys, error) {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the AWS configuration: %w", err)
	}
	if cfg.Region == "" {
		return nil, errors.New("the region of the table is unknown: set AWS_REGION, or AWS_PROFILE to a profile with one")
	}
	return tableKeys{keydynamo.New(dynamotable.NewClient(cfg), table)}, nil
}

type tableKeys struct{ *keydynamo.Store }

func (tableKeys) Close() error { return nil }

// noKeys is the store of a read-only folder without keys.
type noKeys struct{}

var errNoKeysHere = fault.New(fault.Unavailable, "this data folder is read-only, so keys cannot be created in it")

func (noKeys) Create(context.Context, keys.Key) error { return errNoKeysHere }

func (noKeys) List(context.Context) ([]keys.Key, error) { return nil, nil }

func (noKeys) Find(_ context.Context, id string) (keys.Key, error) {
	return keys.Key{}, keys.NotFound(id)
}

func (noKeys) Revoke(_ context.Context, id string, _ time.Time) error { return keys.NotFound(id) }

func (noKeys) Close() error { return nil }
