module queuepost

go 1.22
