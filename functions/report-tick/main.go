// Command report-tick is the AWS Lambda function that queues the scheduled reports that are due. A schedule starts it.
package main

import (
	"context"
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/functions/internal/reports"
)

func main() {
	logger := function.SetLog("report-tick", os.Stderr)
	function, err := reports.Tick(context.Background(), os.LookupEnv, logger)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(function)
}
