// Package page is the interactive page: Swagger UI and what it is started with. It is a package of its own so that
// programs that do not serve the page do not carry it.
package page

import "embed"

// Files are the page's files by their names: index.html and what it loads.
//
//go:embed *.html *.css *.js *.png *.txt LICENSE NOTICE
var Files embed.FS
