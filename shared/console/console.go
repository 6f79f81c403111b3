// Package console is the browser console: a page that asks the API. Its sources are in src, and `go run ./scripts/console`
// builds dist from them. It is a package of its own so that programs that do not serve the console do not carry it.
package console

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"io/fs"
)

// dist has the files of the folder dist, compressed to a third.
//
//go:embed dist.zip
var dist []byte

// Files are the files of the console by their names: index.html and what it loads. A file other than index.html and
// LICENSES.txt has a hash of its contents in its name.
var Files = built()

func built() fs.FS {
	files, err := zip.NewReader(bytes.NewReader(dist), int64(len(dist)))
	if err != nil {
		panic("console: read its files: " + err.Error()) // they are a part of the program
	}
	return files
}
