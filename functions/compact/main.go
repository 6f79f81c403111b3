// Command compact is the AWS Lambda function that merges the Parquet objects of past hours. A schedule starts it.
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
	logger := function.SetLog("compact", os.Stderr)
	writing.LimitMemory(os.LookupEnv)
	function, err := writing.Compact(context.Background(), os.LookupEnv, os.TempDir(), logger)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(function)
}
