module parcel

go 1.22
