package repair

// Costs of slips. A likely slip costs less than an unlikely one, and evidence makes it cheaper
// still. A habit of the writer, such as single quotes, costs once for the whole text.
const (
	slip    = 10 // a missing, surplus or wrong sign of structure
	likely  = 8  // a slip with evidence around it
	habit   = 6  // the first slip of a kind: another language's quotes, bare keys, comments
	small   = 4  // a slip with an almost certain meaning: a trailing comma, True for true
	trifle  = 2  // a line break in a string
	strange = 8  // a member that is not among those the schema lists
	odd     = 6  // a sign that is unusual in text: one quotation mark without its partner
)

// Most is the highest cost of a reading. Margin is the difference in cost by which the best value
// must be cheaper than every other.
const (
	Most   = 40
	Margin = 5
)
