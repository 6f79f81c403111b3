//go:build !noparquet

// Command ingest is the AWS Lambda function that turns the raw logs that messages of SQS tell of into Parquet.
package main

import (
	"context"
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/orrery/orrery/functions/internal/wire"
)

func main() {
	logger := wire.SetLog("ingest", os.Stderr)
	wire.LimitMemory(os.LookupEnv)
	function, err := wire.Ingest(context.Background(), os.LookupEnv, os.TempDir(), logger)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(function)
}
