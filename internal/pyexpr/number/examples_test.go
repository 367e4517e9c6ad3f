package number_test

import (
	"testing"

	"toolnorm/internal/test/pyexprtest"
)

func TestExamplesInComments(t *testing.T) { pyexprtest.Examples(t, 100) }
