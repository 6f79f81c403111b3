// Command reconcile is the AWS Lambda function that sends raw logs again which have not arrived. A schedule starts it.
package main

import (
	"context"
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/functions/internal/writing"
)

func main() {
	logger := function.SetLog("reconcile", os.Stderr)
	function, err := writing.Reconcile(context.Background(), os.LookupEnv, logger)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(function)
}
