package doctor

import "toolnorm/engine/ollama"

// defect is a fault of Ollama that some versions have.
type defect struct {
	before string // the first version without it; empty: none so far
	Finding
}

// wedges is the first version of Ollama that does not hang after a call which its own reader refuses.
const wedges = "0.32.15"

// defects are those that matter to a proxy. What depends on the model's template is found by looking at the model.
var defects = []defect{
	{"0.6.0", Finding{Note, "capabilities", "this version does not say what its models can do", "templates are searched for tools"}},
	{"0.12.10", Finding{Note, "call ids", "calls have no ids in this version", "toolnorm makes its own"}},
	{wedges, Finding{Note, "hang", "before " + wedges + ", a model with a PARSER answers nobody any more once that has met a call it cannot read, until the model is unloaded",
		"raw keeps away from that reader; do not set tap or native for such a model"}},
	{"", Finding{Note, "templates", "those that say {{ .Function }} print tools as Go prints a struct (every version so far)", "raw puts JSON there; toolnorm doctor MODEL says whether a model's does"}},
	{"", Finding{Note, "calls", "those that are not quite right are dropped or become errors (every version so far)", "toolnorm reads the model's text itself"}},
}

// known are the defects of a version.
func known(version string) (all []Finding) {
	v := ollama.VersionNumbers(version)
	if v == [3]int{} {
		return []Finding{{Note, "version", "the server does not tell its version, so its defects are not known", "before " + wedges + ", tap and native can hang it"}}
	}
	for _, d := range defects {
		if d.before == "" || ollama.Older(version, d.before) {
			all = append(all, d.Finding)
		}
	}
	return all
}
