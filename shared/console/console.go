// Package console is the browser console: a page that asks the API. Its sources are in src, and `go run ./scripts/console`
// builds dist from them. It is a package of its own so that programs that do not serve the console do not carry it.
package console

import (
	"embed"
	"io/fs"
)

//go:embed dist
var dist embed.FS

// Files are the files of the console by their names: index.html and what it loads. A file other than index.html and
// LICENSES.txt has a hash of its contents in its name.
var Files = built()

func built() fs.FS {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the name of the folder is valid
	}
	return files
}
