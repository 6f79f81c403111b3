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

	"github.com/orrery/orrery/shared/dynamo"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/keys"
	keysdynamo "github.com/orrery/orrery/shared/keys/dynamo"
	keyssqlite "github.com/orrery/orrery/shared/keys/sqlite"
)

// Keys is a store of keys until it is closed.
type Keys interface {
	keys.Store
	io.Closer
}

// keysFile is where a data folder has its keys.
const keysFile = "keys.db"

// OpenKeys opens the keys of a data folder, and makes the folder if it does not exist. Keys that are there and cannot
// be read are an error: a server must not take that for none.
func OpenKeys(ctx context.Context, data string) (Keys, error) {
	if err := makeFolder(data); err != nil {
		return nil, err
	}
	path := filepath.Join(data, keysFile)
	if writable(data) {
		return opened(keyssqlite.Open(ctx, path))
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return noKeys{}, nil
	}
	return opened(keyssqlite.OpenReadOnly(ctx, path))
}

// opened keeps a nil pointer from becoming Keys that are not nil.
func opened(s *keyssqlite.Store, err error) (Keys, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// OpenTableKeys opens the keys of a deployment in AWS, by the name of its table. Where and as whom is for the SDK's own
// configuration to say (AWS_PROFILE, AWS_REGION, AWS_ENDPOINT_URL …).
func OpenTableKeys(ctx context.Context, table string) (Keys, error) {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the configuration of AWS: %w", err)
	}
	if cfg.Region == "" {
		return nil, errors.New("in which region is the table? Set AWS_REGION, or AWS_PROFILE to a profile that has one")
	}
	return tableKeys{keysdynamo.New(dynamo.NewClient(cfg), table)}, nil
}

type tableKeys struct{ *keysdynamo.Store }

func (tableKeys) Close() error { return nil }

// noKeys stands for the keys of a folder that has none and can only be read.
type noKeys struct{}

var errNoKeysHere = fault.New(fault.Unavailable, "this data folder can only be read, so it can have no keys")

func (noKeys) Create(context.Context, keys.Key) error { return errNoKeysHere }

func (noKeys) List(context.Context) ([]keys.Key, error) { return nil, nil }

func (noKeys) Find(_ context.Context, id string) (keys.Key, error) {
	return keys.Key{}, keys.NotFound(id)
}

func (noKeys) Revoke(_ context.Context, id string, _ time.Time) error { return keys.NotFound(id) }

func (noKeys) Close() error { return nil }
