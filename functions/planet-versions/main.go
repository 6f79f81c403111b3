// Command planet-versions is the AWS Lambda function that reads the history of planet settings.
package main

import (
	"context"
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/orrery/orrery/functions/internal/wire"
)

func main() {
	function, err := wire.Planets(context.Background(), "planet-versions", os.LookupEnv, os.Stderr)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(function)
}
