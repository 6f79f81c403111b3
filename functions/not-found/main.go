// Command not-found is the AWS Lambda function for every path that no other function has. It reports unknown paths,
// suggests similar ones, and answers about the service itself.
package main

import (
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/functions/internal/wire"
)

func main() {
	logger := function.SetLog("not-found", os.Stderr)
	function, err := wire.NotFound(os.LookupEnv, logger)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(function)
}
