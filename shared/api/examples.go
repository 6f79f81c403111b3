package api

import (
	"embed"
	"fmt"
	"io/fs"
	"mime"
	"net/textproto"
	"strconv"
	"strings"
	"sync"
)

// The examples of the OpenAPI document are files that a test plays against the server: what is shown is what
// happens. A file is called OPERATION.STATUS.WHAT.http and reads
//
//	What it shows, in one line.
//	given: what is special about the server, if anything
//	--- request
//	the request, as it goes over the wire
//	--- response
//	the answer
//
//go:embed examples/*.http
var exampleFiles embed.FS

var examples = sync.OnceValue(readExamples)

// example is one request and its answer.
type example struct {
	file      string
	operation string
	status    int
	name      string
	summary   string
	setup     []string // what is special about the server: see the test
	request   message
	response  message
}

// message is one side of an example.
type message struct {
	head string // first line and headers
	body string
}

func readExamples() []*example {
	files, err := fs.Glob(exampleFiles, "examples/*.http")
	if err != nil {
		panic(err) // the pattern is well-formed
	}
	var list []*example
	for _, file := range files {
		text, err := exampleFiles.ReadFile(file)
		if err != nil {
			panic(err) // Glob has found it
		}
		e, err := readExample(strings.TrimPrefix(file, "examples/"), string(text))
		if err != nil {
			panic(err)
		}
		list = append(list, e)
	}
	return list
}

func readExample(file, text string) (*example, error) {
	about, rest, ok1 := strings.Cut(text, "--- request\n")
	request, response, ok2 := strings.Cut(rest, "--- response\n")
	parts := strings.SplitN(strings.TrimSuffix(file, ".http"), ".", 3)
	if !ok1 || !ok2 || len(parts) != 3 {
		return nil, fmt.Errorf("api: example %s is not of the form that examples.go describes", file)
	}
	status, err := strconv.Atoi(parts[1])
	if err != nil {
		return nil, fmt.Errorf("api: example %s: %w", file, err)
	}
	e := &example{file: file, operation: parts[0], status: status, name: parts[2]}
	e.summary, about, _ = strings.Cut(about, "\n")
	if setup, ok := strings.CutPrefix(strings.TrimSpace(about), "given: "); ok {
		e.setup = strings.Split(setup, ", ")
	}
	e.request, e.response = readMessage(request), readMessage(response)
	return e, nil
}

func readMessage(text string) message {
	head, body, _ := strings.Cut(text, "\n\n")
	return message{strings.TrimRight(head, "\n"), strings.TrimRight(body, "\n")}
}

// content is the body and its type.
func (m message) content() content {
	sent := content{text: []byte(m.body)}
	for _, line := range strings.Split(m.head, "\n")[1:] {
		name, value, _ := strings.Cut(line, ":")
		if textproto.CanonicalMIMEHeaderKey(name) == "Content-Type" {
			mediaType, options, _ := mime.ParseMediaType(value)
			sent.mediaType, sent.boundary = mediaType, options["boundary"]
		}
	}
	return sent
}

// mediaType is the type of the body.
func (m message) mediaType() string { return m.content().mediaType }

// examplesOf lists the examples of an operation and a status; "" and 0 stand for any.
func examplesOf(operation string, status int) []*example {
	var list []*example
	for _, e := range examples() {
		if (operation == "" || e.operation == operation) && (status == 0 || e.status == status) {
			list = append(list, e)
		}
	}
	return list
}
