// Command report is the AWS Lambda function that makes and delivers scheduled reports. SQS messages name their runs.
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
	logger := function.SetLog("report", os.Stderr)
	function, err := reports.Make(context.Background(), os.LookupEnv, logger)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(function)
}
