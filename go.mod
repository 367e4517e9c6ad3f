module toolnorm

go 1.26
