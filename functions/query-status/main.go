// Command query-status is the AWS Lambda function that returns the answers of queries that take longer than a
// request, and cancels such queries.
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
	logger := function.SetLog("query-status", os.Stderr)
	function, err := wire.Searching(context.Background(), "query-status", os.LookupEnv, logger)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(function)
}
