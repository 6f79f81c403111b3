// Command older is the AWS Lambda function that answers every route below the older base paths.
package main

import (
	"context"
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/functions/internal/wire"
	"github.com/orrery/orrery/shared/api/reportapi"
	"github.com/orrery/orrery/shared/inquiry"
)

func main() {
	logger := function.SetLog("older", os.Stderr)
	maker := reportapi.Maker{AtOnce: inquiry.Many}
	function, err := wire.Older(context.Background(), os.LookupEnv, logger, maker)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(function)
}
