// Command query-status is the AWS Lambda function that answers queries which take longer than a request, and stops
// them.
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
