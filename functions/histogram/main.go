// Command histogram is the AWS Lambda function that returns a measure per time segment, split by a field, from Athena.
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
	logger := function.SetLog("histogram", os.Stderr)
	function, err := wire.Searching(context.Background(), "histogram", os.LookupEnv, logger)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(function)
}
