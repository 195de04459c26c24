package outgoing

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/label-state/label-state/internal/smallfile"
)

// A setting is one line of a configuration file, "section.subsection.key=value": section and key in lower case. A key
// without "=" has the value "true".
type setting struct{ section, subsection, key, value string }

// settings are those of one file, in its order.
type settings []setting

// last returns the value that counts, or "".
func (s settings) last(section, key string) string {
	value := ""
	for _, x := range s {
		if x.section == section && x.subsection == "" && x.key == key {
			value = x.value
		}
	}
	return value
}

// readConfig reads the repository's own configuration file; one that is not there is empty. Go-git's decoder would do,
// but what it imports costs every run of the hook more time to start than the rest of the push takes.
func readConfig(common string) (settings, error) {
	text, err := smallfile.Follow(filepath.Join(common, "config"), maxText)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	s, err := parseConfig(string(text))
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	return s, nil
}

// parseConfig reads a file as git-config(1), "Syntax", describes it.
func parseConfig(text string) (settings, error) {
	if strings.Contains(text, "\x00") {
		return nil, fmt.Errorf("%w: a NUL", errDamaged)
	}
	p := configParser{rest: strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")}
	var read settings
	for {
		right := true
		p.rest = strings.TrimLeft(p.rest, " \t\r\n")
		switch {
		case p.rest == "":
			return read, nil
		case p.rest[0] == '#' || p.rest[0] == ';':
			_, p.rest, _ = strings.Cut(p.rest, "\n")
		case p.rest[0] == '[':
			p.rest = p.rest[1:]
			right = p.header()
		default:
			key := p.word(isKeyByte)
			if right = key != "" && isLetter(key[0]) && p.section != ""; !right {
				break
			}
			x := setting{section: p.section, subsection: p.subsection, key: strings.ToLower(key), value: "true"}
			p.rest = strings.TrimLeft(p.rest, " \t")
			right = p.rest == "" || p.rest[0] == '\n'
			if value, found := strings.CutPrefix(p.rest, "="); found {
				p.rest = value
				x.value, right = p.value()
			}
			read = append(read, x)
		}
		if !right {
			return nil, fmt.Errorf("%w: line %d from the end", errDamaged, 1+strings.Count(p.rest, "\n"))
		}
	}
}

// A configParser has read everything but rest. Its methods report whether the syntax was right.
type configParser struct {
	rest                string
	section, subsection string
}

// header reads what follows "[": a section, and after a dot, as it was once written, or in quotes a subsection.
func (p *configParser) header() bool {
	name := p.word(func(c byte) bool { return isKeyByte(c) || c == '.' })
	p.section, p.subsection, _ = strings.Cut(strings.ToLower(name), ".")
	if p.section == "" || strings.HasSuffix(name, ".") {
		return false
	}
	if strings.HasPrefix(p.rest, "]") {
		p.rest = p.rest[1:]
		return true
	}
	quoted := strings.TrimLeft(p.rest, " \t")
	if quoted == p.rest || !strings.HasPrefix(quoted, `"`) {
		return false
	}
	p.rest = quoted[1:]
	var subsection []byte
	if p.subsection != "" {
		subsection = append(subsection, p.subsection+"."...)
	}
	for i := 0; i < len(p.rest) && p.rest[i] != '\n'; i++ {
		switch p.rest[i] {
		case '"':
			tail, closed := strings.CutPrefix(p.rest[i+1:], "]")
			p.subsection, p.rest = string(subsection), tail
			return closed && p.subsection != ""
		case '\\':
			i++
			if i == len(p.rest) || p.rest[i] == '\n' {
				return false
			}
		}
		subsection = append(subsection, p.rest[i])
	}
	return false
}

// value reads up to the end of the line, or of a later one when backslashes continue it. Blanks around a value do not belong to it,
// unless they are in quotes.
func (p *configParser) value() (string, bool) {
	var text []byte
	length := 0 // of text, without the blanks at the end
	quoted := false
	for p.rest != "" {
		c := p.rest[0]
		p.rest = p.rest[1:]
		blank := (c == ' ' || c == '\t' || c == '\r') && !quoted
		switch {
		case c == '\n':
			return string(text[:length]), !quoted
		case c == '\\':
			if p.rest == "" {
				return "", false
			}
			escaped := p.rest[0]
			p.rest = p.rest[1:]
			switch escaped {
			case '\n': // the value goes on in the next line
				continue
			case 'n':
				escaped = '\n'
			case 't':
				escaped = '\t'
			case 'b':
				escaped = '\b'
			case '\\', '"':
			default:
				return "", false
			}
			text = append(text, escaped)
			length = len(text)
		case (c == '#' || c == ';') && !quoted:
			p.rest = p.rest[strings.IndexByte(p.rest+"\n", '\n'):]
		case c == '"':
			quoted = !quoted
			length = len(text)
		case !blank:
			text = append(text, c)
			length = len(text)
		case len(text) > 0:
			text = append(text, c)
		}
	}
	return string(text[:length]), !quoted
}

// word takes the bytes ahead that are of a kind.
func (p *configParser) word(is func(byte) bool) string {
	n := 0
	for n < len(p.rest) && is(p.rest[n]) {
		n++
	}
	word := p.rest[:n]
	p.rest = p.rest[n:]
	return word
}

func isKeyByte(c byte) bool { return isLetter(c) || '0' <= c && c <= '9' || c == '-' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
