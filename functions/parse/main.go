// Command parse is the AWS Lambda function that converts filters.
package main

import (
	"context"
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/orrery/orrery/functions/internal/wire"
)

func main() {
	function, err := wire.Filters(context.Background(), "parse", os.LookupEnv, os.Stderr)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(function)
}
