// Command why is the AWS Lambda function that explains why a request was stopped.
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
	logger := function.SetLog("why", os.Stderr)
	function, err := wire.Searching(context.Background(), "why", os.LookupEnv, logger)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(function)
}
