// Command report-now is the AWS Lambda function that makes reports about a period at once.
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
	logger := function.SetLog("report-now", os.Stderr)
	maker := reportapi.Maker{AtOnce: inquiry.Many}
	function, err := wire.ReportNow(context.Background(), os.LookupEnv, logger, maker)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(function)
}
