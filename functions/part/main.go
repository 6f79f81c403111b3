// Command part is the AWS Lambda function that counts a part of a large question for another function.
package main

import (
	"context"
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/orrery/orrery/functions/internal/counting"
	"github.com/orrery/orrery/functions/internal/function"
)

func main() {
	function.SetLog("part", os.Stderr)
	function, err := counting.New(context.Background(), os.LookupEnv)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(function)
}
