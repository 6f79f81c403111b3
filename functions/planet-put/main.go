// Command planet-put is the AWS Lambda function that writes planet settings, and restores earlier ones.
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
	logger := function.SetLog("planet-put", os.Stderr)
	function, err := wire.Planets(context.Background(), "planet-put", os.LookupEnv, logger)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(function)
}
