package cost

// Prices holds the list prices of one region in USD, of the first tier, without the free tier.
type Prices struct {
	StorageGB      float64 // S3 Standard, per month
	Puts1000       float64 // S3 PUT, COPY, LIST
	Gets1000       float64 // S3 GET
	QueueMillion   float64 // SQS standard requests
	LambdaGBs      float64 // arm64
	InvokeMillion  float64
	WriteMillion   float64 // DynamoDB on demand, write units
	ReadMillion    float64 // DynamoDB on demand, read units
	AthenaTB       float64
	Mail1000       float64 // SES, messages
	MailMB         float64 // SES, attachments
	GatewayMillion float64 // REST API
	LogsGB         float64 // ingestion
	Alarm          float64 // standard resolution, per month
}

// PricesOf is the date and the source of the prices, which may have changed since.
const PricesOf = "list prices as published in 2025 on aws.amazon.com/<service>/pricing; " +
	"check them before you rely on a figure"

// Regions has the prices by region.
var Regions = map[string]Prices{
	"eu-central-1": {
		StorageGB: 0.0245, Puts1000: 0.0054, Gets1000: 0.00043, QueueMillion: 0.40,
		LambdaGBs: 0.0000133334, InvokeMillion: 0.20, WriteMillion: 0.7625, ReadMillion: 0.1525, AthenaTB: 5,
		Mail1000: 0.10, MailMB: 0.00012, GatewayMillion: 3.70, LogsGB: 0.63, Alarm: 0.10,
	},
	"us-east-1": {
		StorageGB: 0.023, Puts1000: 0.005, Gets1000: 0.0004, QueueMillion: 0.40,
		LambdaGBs: 0.0000133334, InvokeMillion: 0.20, WriteMillion: 0.625, ReadMillion: 0.125, AthenaTB: 5,
		Mail1000: 0.10, MailMB: 0.00012, GatewayMillion: 3.50, LogsGB: 0.50, Alarm: 0.10,
	},
}
