package main

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
)

// tokens is the option by which kong reads a number of tokens, such as 65536 or 64k. A k is 1,024,
// since context lengths are powers of two. Anything else is an error.
var tokens = kong.NamedMapper("tokens",
	kong.MapperFunc(func(ctx *kong.DecodeContext, to reflect.Value) error {
		token, err := ctx.Scan.PopValue("tokens")
		if err != nil {
			return err
		}
		text := token.String()
		number, thousands := strings.CutSuffix(strings.ToLower(text), "k")
		n, err := strconv.Atoi(number)
		switch {
		case err != nil, thousands && (n > math.MaxInt/1024 || n < 0):
			return fmt.Errorf("%q is not a number of tokens; write 65536 or 64k", text)
		case thousands:
			n *= 1024
		}
		to.SetInt(int64(n))
		return nil
	}))
