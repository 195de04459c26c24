package closing_test

import (
	"testing"
	"time"

	"github.com/label-state/label-state/internal/closing"
)

// TestWorkIsBounded reads every hostile text: as a commit message of 1 MiB, as a description of
// twice the 64 KiB that GitHub takes. Each is a matter of milliseconds; work that grew with the
// square of the size would take minutes. The best of three readings counts, so that a busy machine
// does not matter.
func TestWorkIsBounded(t *testing.T) {
	t.Run("commit", func(t *testing.T) { bounded(t, closing.InCommit, 1<<20) })
	t.Run("description", func(t *testing.T) { bounded(t, closing.InDescription, 1<<17) })
}

func bounded(t *testing.T, read surface, size int) {
	const limit = 2 * time.Second
	for name, text := range hostileTexts(size) {
		var took time.Duration
		for range 3 {
			start := time.Now()
			read(text, home, host)
			if took = time.Since(start); took < limit {
				break
			}
		}

		if took >= limit {
			t.Errorf("%s: took %v three times, want less than %v", name, took, limit)
		}
	}
}

// BenchmarkInCommit reads 1 MiB of the texts most like a mention.
func BenchmarkInCommit(b *testing.B) { bench(b, closing.InCommit) }

// BenchmarkInDescription adds those that are hardest on the reader of Markdown.
func BenchmarkInDescription(b *testing.B) {
	bench(b, closing.InDescription, "ticks of every length", "nest, then empty lines", "nest, then blanks")
}

func bench(b *testing.B, read surface, more ...string) {
	texts := hostileTexts(1 << 20)
	for _, name := range append([]string{"keywords", "owners", "URLs", "same"}, more...) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(texts[name])))
			for b.Loop() {
				read(texts[name], home, host)
			}
		})
	}
}
