package chars

import "testing"

// What CPython 3.11 says of characters on which other tables differ. The whole tables are compared
// by the expressions of package pyexpr.
func TestCharactersAreWhatCPythonSaysOfThem(t *testing.T) {
	for name, ok := range map[string]bool{
		"'²' is a digit, and no decimal one":            Digit('²') && !Decimal('²') && Numeric('²'),
		"'½' is only numeric":                           Numeric('½') && !Digit('½') && Alphanumeric('½') && !Letter('½'),
		"'五' is a letter and numeric":                   Letter('五') && Numeric('五') && !Digit('五'),
		"the separators of ASCII are white space":       Space('\x1c') && Space('\u3000') && !Space('\u200b'),
		"a letter of titles is neither large nor small": !Upper('ǅ') && !Lower('ǅ') && HasCase('ǅ'),
		"an apostrophe stands within words":             CaseIgnorable('\'') && !HasCase('\''),
		"what is not seen is not printable":             !Printable('\u200b') && !Printable('\x00') && Printable('가') && Printable(' '),
		"combining marks are no letters":                !Letter('\u0301') && !Alphanumeric('\u0301'),
	} {
		if !ok {
			t.Errorf("wrong: %s", name)
		}
	}
	for got, want := range map[string]string{ToUpper('ß'): "SS", ToLower('İ'): "i̇", ToTitle('ǆ'): "ǅ", Fold('ẞ'): "ss", ToUpper('가'): "가"} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for r, want := range map[rune]int{'0': 0, '9': 9, '٢': 2, '９': 9, '𝟗': 9, '²': -1, 'a': -1, '\U0010FFFF': -1} {
		if got := DigitValue(r); got != want {
			t.Errorf("the digit %q is %d, want %d", r, got, want)
		}
	}
}
