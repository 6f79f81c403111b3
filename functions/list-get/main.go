// Command list-get is the AWS Lambda function that reads lists of values and their history.
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
	logger := function.SetLog("list-get", os.Stderr)
	function, err := wire.Lists(context.Background(), "list-get", os.LookupEnv, logger)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(function)
}
