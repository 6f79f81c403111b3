package client_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/orrery/orrery/shared/client"
)

// printRecords prints all records that match a filter. The README.md of package api shows its body.
func printRecords(ctx context.Context, filter string) error {
	c := client.Client{BaseURL: os.Getenv("ORRERY_URL"), Key: os.Getenv("ORRERY_API_KEY")}
	for record, err := range c.Records(ctx, client.Question{Filters: filter, Limit: 2500}) {
		if err != nil {
			return err
		}
		fmt.Printf("%s\n", record)
	}
	return nil
}

func ExampleClient_Records() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"data":{"results":[{"status":503},{"status":500}]},"meta":{"next":null}}`)
	}))
	defer server.Close()
	if err := os.Setenv("ORRERY_URL", server.URL); err != nil {
		fmt.Println(err)
	}
	if err := printRecords(context.Background(), "timestamp between 2026-01-01 and 2026-01-02, status>=500"); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"status":503}
	// {"status":500}
}
