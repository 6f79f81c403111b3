// Command status is the AWS Lambda function that reports the data, limits and routes of the deployment.
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
	logger := function.SetLog("status", os.Stderr)
	function, err := wire.Status(context.Background(), "status", os.LookupEnv, logger)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(function)
}
