package sqlsafe

import "strings"

// Key is a key of ORDER BY or GROUP BY that has the same value in every row.
type Key struct {
	Of   string // ORDER BY or GROUP BY
	Name string // the name of a parameter in it
	At   int    // the offset of that parameter
}

// ConstantKeys returns the keys of ORDER BY and GROUP BY that contain a parameter and no column.
// Such a key sorts or groups by a constant, although the author meant the parameter to name a
// column. ConstantKeys looks only at words. It may take an unknown keyword for a column, and then
// does not return that key.
func (k Kind) ConstantKeys(sql string) (found []Key) {
	sql = k.plain(sql)
	all := k.tokens(sql)
	for i := 0; i+1 < len(all); i++ {
		of := strings.ToUpper(all[i].text)
		if (of == "ORDER" || of == "GROUP") && strings.EqualFold(all[i+1].text, "BY") {
			found = append(found, constantKeys(of+" BY", all[i+2:])...)
		}
	}
	return found
}

// constantKeys returns those keys of a list that contain a parameter and no column, so that they
// are the same in every row. The tokens begin with the list. The parameter of is the keyword before
// it, ORDER BY or GROUP BY.
func constantKeys(of string, all []token) (found []Key) {
	depth, column := 0, false
	var named *Key
	end := func() {
		if named != nil && !column {
			found = append(found, *named)
		}
		named, column = nil, false
	}
	for i, t := range all {
		word := strings.ToUpper(t.text)
		last := depth == 0 && (word == ")" || word == ";" || behindKeys[word])
		switch {
		case last:
			end()
			return found
		case word == "(":
			depth++
		case word == ")":
			depth--
		case word == "," && depth == 0:
			end()
		case i > 0 && all[i-1].text == ":" && all[i-1].at+1 == t.at:
			if named == nil {
				named = &Key{of, t.text, t.at - 1}
			}
		case i > 0 && (all[i-1].text == "::" || strings.EqualFold(all[i-1].text, "AS") ||
			strings.EqualFold(all[i-1].text, "COLLATE")):
			// a type or a collation
		case i+1 < len(all) && all[i+1].text == "(":
			// a function; but the values of a subquery are not known
			column = column || word == "SELECT" || word == "IN"
		default:
			column = column || mayName(t.text) && !ofKeys[word]
		}
	}
	end()
	return found
}

// mayName reports whether a token may name a column, because it is a word or a quoted name.
func mayName(text string) bool {
	return wordByte(text[0]) && (text[0] < '0' || text[0] > '9') ||
		strings.IndexByte("\"`[", text[0]) >= 0
}

// behindKeys are the words that end a list of keys.
var behindKeys = wordSet(
	"LIMIT OFFSET FETCH FOR HAVING WINDOW UNION INTERSECT EXCEPT ORDER ROWS RANGE GROUPS")

// ofKeys are the words that may be in a key and are not columns.
var ofKeys = wordSet(
	"ASC DESC NULLS FIRST LAST USING COLLATE CASE WHEN THEN ELSE END AND OR NOT IS NULL TRUE FALSE AS LIKE ILIKE BETWEEN IN DISTINCT")

// wordSet returns the set of words in a text.
func wordSet(words string) map[string]bool {
	all := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		all[w] = true
	}
	return all
}
