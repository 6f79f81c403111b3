// Package page is the interactive page: Swagger UI and what it is started with. It is a package of its own so that
// programs that do not serve the page do not carry it.
package page

import (
	"archive/zip"
	"bytes"
	"embed"
	"io/fs"
)

// Files are the page's files by their names: index.html and what it loads.
var Files fs.FS = layers{small, unzipped(swaggerUI)}

//go:embed *.html *.css *.js *.png *.txt LICENSE NOTICE
var small embed.FS

// swaggerUI has the large files of a release of Swagger UI, as zip -9 -X swagger-ui.zip swagger-ui-bundle.js swagger-ui.css
// compresses them to a quarter.
//
//go:embed swagger-ui.zip
var swaggerUI []byte

func unzipped(archive []byte) *zip.Reader {
	files, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		panic("page: read Swagger UI: " + err.Error()) // it is a part of the program
	}
	return files
}

// layers opens a file of the first file system that has it.
type layers []fs.FS

func (l layers) Open(name string) (file fs.File, err error) {
	for _, files := range l {
		if file, err = files.Open(name); err == nil {
			break
		}
	}
	return file, err
}
