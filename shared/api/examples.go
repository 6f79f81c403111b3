package api

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"mime"
	"net/textproto"
	"strconv"
	"strings"
	"sync"
)

// exampleFiles are the examples of the OpenAPI document. A test sends the requests to a server and compares the
// responses. A file is named OPERATION.STATUS.NAME.http and has the format
//
//	A summary in one line.
//	given: optional settings of the server; see the test
//	--- request
//	the request as sent
//	--- response
//	the response
//
//go:embed examples/*.http
var exampleFiles embed.FS

var examples = sync.OnceValue(readExamples)

// example is a request and its response.
type example struct {
	file      string
	operation string
	status    int
	name      string
	summary   string
	setup     []string // settings of the server; see the test
	request   message
	response  message
}

// message is a request or a response.
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
		return nil, fmt.Errorf("api: example %s does not have the format that examples.go describes", file)
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

// content returns the body with its type.
func (m message) content() sentBody {
	sent := sentBody{text: []byte(m.body)}
	for _, line := range strings.Split(m.head, "\n")[1:] {
		name, value, _ := strings.Cut(line, ":")
		if textproto.CanonicalMIMEHeaderKey(name) == "Content-Type" {
			mediaType, options, _ := mime.ParseMediaType(value)
			sent.mediaType, sent.boundary = mediaType, options["boundary"]
		}
	}
	return sent
}

// mediaType returns the type of the body.
func (m message) mediaType() string { return m.content().mediaType }

// examplesOf returns the examples of an operation and a status; "" and 0 match any.
func examplesOf(operation string, status int) []*example {
	var list []*example
	for _, e := range examples() {
		if (operation == "" || e.operation == operation) && (status == 0 || e.status == status) {
			list = append(list, e)
		}
	}
	return list
}

// errorsAsText returns error examples converted to text. Mistakes of a filter are left out: their text contains the
// filter, which the JSON does not have.
func errorsAsText(examples []*example) []*example {
	var list []*example
	for _, e := range examples {
		var body Error
		if e.response.mediaType() != jsonType {
			continue
		}
		if err := json.Unmarshal([]byte(e.response.body), &body); err != nil {
			panic(fmt.Sprintf("api: example %s: %v", e.name, err))
		}
		if len(body.Errors) == 0 {
			asText := *e
			asText.response = message{
				head: strings.Replace(e.response.head, jsonType, textType+"; charset=utf-8", 1),
				body: strings.TrimRight(string(body.Text()), "\n"),
			}
			list = append(list, &asText)
		}
	}
	return list
}
