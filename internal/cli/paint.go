package cli

// Colours by the numbers of the sixteen that every terminal has and its owner has chosen; light and
// dark is theirs to know.
const (
	InkBold   = "1"
	InkFaint  = "2"
	InkGreen  = "32"
	InkYellow = "33"
	InkCyan   = "36"
	InkAlarm  = "1;31"
)

// Paint colours a text on a terminal that may be coloured. What it says, it says without colours as
// well.
func (c *Call) Paint(ink, text string) string {
	if text == "" || c.NoColor || !c.Env.Color(c.Out) {
		return text
	}
	return "\x1b[" + ink + "m" + text + "\x1b[0m"
}
