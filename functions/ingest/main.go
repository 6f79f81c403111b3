// Command ingest is the AWS Lambda function that converts raw logs to Parquet. SQS messages name the logs.
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
	logger := function.SetLog("ingest", os.Stderr)
	writing.LimitMemory(os.LookupEnv)
	function, err := writing.Ingest(context.Background(), os.LookupEnv, os.TempDir(), logger)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(function)
}
