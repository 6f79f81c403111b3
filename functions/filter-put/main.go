// Command filter-put is the AWS Lambda function that writes and deletes saved filters, and restores earlier ones.
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
	logger := function.SetLog("filter-put", os.Stderr)
	function, err := wire.SavedFilters(context.Background(), "filter-put", os.LookupEnv, logger)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(function)
}
