package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/shared/keys"
)

type keyCommand struct {
	Create keyCreateCommand `cmd:"" help:"Make a key and print it; it is shown this once."`
	List   keyListCommand   `cmd:"" help:"List the keys, those revoked and expired too."`
	Revoke keyRevokeCommand `cmd:"" help:"Refuse a key from now on; running servers do so within a minute."`
}

// keyStore says where the keys are: in a data folder, or in the table of a deployment.
type keyStore struct {
	Data  folder `help:"Folder that holds the data." default:".orrery" env:"ORRERY_DATA"`
	Table string `help:"DynamoDB table of a deployment in AWS instead; the SDK's variables say where." placeholder:"NAME"`
}

// mustExist refuses a folder that is not there, for commands that make no key.
func (k keyStore) mustExist() error {
	if k.Table != "" {
		return nil
	}
	return k.Data.mustExist()
}

// use opens the keys for as long as f runs.
func (k keyStore) use(ctx context.Context, f func(keys.Store) error) error {
	open := func() (local.Keys, error) { return local.OpenKeys(ctx, string(k.Data)) }
	if k.Table != "" {
		open = func() (local.Keys, error) { return local.OpenTableKeys(ctx, k.Table) }
	}
	store, err := open()
	if err != nil {
		return err
	}
	return errors.Join(f(store), store.Close())
}

type keyCreateCommand struct {
	Name string `arg:"" help:"Who uses it; the name stands in logs and in the history of planets."`
	keyStore
	Scope   []keys.Scope `required:"" help:"What it allows: data:read, conf:read, conf:write; may be repeated." placeholder:"SCOPE"`
	Branch  []string     `sep:"none" help:"Branch and configuration it may see; may be repeated. Without: all." placeholder:"BRANCH"`
	Expires string       `help:"When it ends, such as 2027-01-31. Without: never." placeholder:"TIME"`
}

// Run prints the key, alone, to standard output; it can be had nowhere else.
func (k *keyCreateCommand) Run(ctx context.Context, c console) error {
	grant := keys.Grant{Name: k.Name, Scopes: k.Scope, Branches: k.Branch}
	if k.Expires != "" {
		var err error
		if grant.Expires, err = parseTime("--expires", k.Expires); err != nil {
			return err
		}
	}
	return k.use(ctx, func(store keys.Store) error {
		secret, made, err := keys.Issue(ctx, store, grant, time.Now())
		if err != nil {
			return err
		}
		fmt.Fprintf(c.err, "key %s for %s: %s on %s. It is shown this once:\n", made.ID, made.Name, scopesText(made.Scopes), branchesText(made.Branches))
		_, err = fmt.Fprintln(c.out, secret)
		return err
	})
}

type keyListCommand struct{ keyStore }

// Run prints a table of all keys, oldest first.
func (k *keyListCommand) Run(ctx context.Context, c console) error {
	if err := k.mustExist(); err != nil {
		return err
	}
	return k.use(ctx, func(store keys.Store) error {
		list, err := store.List(ctx)
		if err != nil {
			return err
		}
		now := time.Now()
		w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "id\tname\tstate\tscopes\tbranches\tcreated\texpires\trevoked")
		for _, one := range list {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", one.ID, one.Name, one.State(now), scopesText(one.Scopes), branchesText(one.Branches),
				timeText(one.Created), timeText(one.Expires), timeText(one.Revoked))
		}
		return w.Flush()
	})
}

type keyRevokeCommand struct {
	Key string `arg:"" help:"Its ID, or its name when one key has that name." placeholder:"NAME|ID"`
	keyStore
}

// Run revokes one key.
func (k *keyRevokeCommand) Run(ctx context.Context, c console) error {
	if err := k.mustExist(); err != nil {
		return err
	}
	return k.use(ctx, func(store keys.Store) error {
		gone, err := keys.Revoke(ctx, store, k.Key, time.Now())
		if err != nil {
			return err
		}
		fmt.Fprintf(c.err, "key %s of %s is revoked since %s; running servers refuse it within a minute\n", gone.ID, gone.Name, timeText(gone.Revoked))
		return nil
	})
}

func scopesText(scopes []keys.Scope) string {
	texts := make([]string, len(scopes))
	for i, scope := range scopes {
		texts[i] = string(scope)
	}
	return strings.Join(texts, ",")
}

func branchesText(branches []string) string {
	if branches == nil {
		return "all branches"
	}
	return strings.Join(branches, ",")
}

// timeText is a time in UTC to the second, "-" for none.
func timeText(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}
