module toolnorm/internal/ocr/dictionary

go 1.26.0

require github.com/ikawaha/kagome-dict/ipa v1.2.6

require github.com/ikawaha/kagome-dict v1.1.7 // indirect
