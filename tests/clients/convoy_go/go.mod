module hookproof/tests/clients/convoy_go

go 1.24.0

require github.com/frain-dev/convoy-go/v2 v2.2.0

require (
	github.com/aws/aws-sdk-go-v2 v1.21.2 // indirect
	github.com/aws/aws-sdk-go-v2/internal/configsources v1.1.43 // indirect
	github.com/aws/aws-sdk-go-v2/internal/endpoints/v2 v2.4.37 // indirect
	github.com/aws/aws-sdk-go-v2/service/sqs v1.24.7 // indirect
	github.com/aws/smithy-go v1.15.0 // indirect
	github.com/frain-dev/convoy v0.9.2 // indirect
	github.com/google/go-querystring v1.1.0 // indirect
	github.com/klauspost/compress v1.17.7 // indirect
	github.com/pierrec/lz4/v4 v4.1.15 // indirect
	github.com/segmentio/kafka-go v0.4.44 // indirect
	github.com/sirupsen/logrus v1.9.3 // indirect
	golang.org/x/sys v0.39.0 // indirect
)
