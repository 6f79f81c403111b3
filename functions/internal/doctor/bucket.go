package doctor

import (
	"context"
	"fmt"

	"github.com/orrery/orrery/shared/blob"
)

// Bucket checks that the objects of a bucket under a prefix can be listed. name is the name of the check.
func Bucket(name string, store blob.Store, bucket, prefix string) Check {
	return Check{
		Name: name,
		Remedy: "the environment variable must name the bucket of the deployment, " +
			"and the role must allow s3:ListBucket on it; deploying the stacks again sets both",
		Run: func(ctx context.Context) (string, error) {
			for _, err := range store.List(ctx, prefix, "") {
				if err != nil {
					return "", refused(err, "the bucket "+bucket)
				}
				return fmt.Sprintf("the bucket %s can be listed, and there are objects under %s", bucket, prefix), nil
			}
			return fmt.Sprintf("the bucket %s can be listed; there is nothing under %s yet", bucket, prefix), nil
		},
	}
}
