// Command list-put is the AWS Lambda function that writes and deletes lists of values, and restores earlier ones.
package main

import (
	"context"
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/functions/internal/wire"
)

func main() {
	logger := function.SetLog("list-put", os.Stderr)
	function, err := wire.Lists(context.Background(), "list-put", os.LookupEnv, logger)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(function)
}
