package pyexpr_test

import (
	"testing"

	"toolnorm/internal/pyexpr/pyexprtest"
)

func TestExamplesInComments(t *testing.T) { pyexprtest.Examples(t, 250) }
