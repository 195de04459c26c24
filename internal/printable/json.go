package printable

import (
	"bytes"
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON is the same JSON with every character that does not show written as \u: in other people's
// text these hide instructions, turn the direction of writing or steer a terminal. Outside of
// strings JSON has no such characters. Line breaks stay.
func JSON(data []byte) []byte {
	var out bytes.Buffer
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		if r < 0x7f || unicode.IsPrint(r) && (r != utf8.RuneError || size > 1) {
			out.Write(data[:size])
		} else {
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&out, `\u%04x`, unit)
			}
		}

		data = data[size:]
	}

	return out.Bytes()
}
