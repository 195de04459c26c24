# packaging/fill fills in a release: its version and the sums of its archives.
class LabelState < Formula
  desc "Nobody does the same GitHub issue twice"
  homepage "https://github.com/label-state/label-state"
  version "@VERSION@"
  license "MIT"

  on_macos do
    on_arm do
      url "https://github.com/label-state/label-state/releases/download/v@VERSION@/label-state_@VERSION@_darwin_arm64.tar.gz"
      sha256 "@darwin_arm64.tar.gz@"
    end
    on_intel do
      url "https://github.com/label-state/label-state/releases/download/v@VERSION@/label-state_@VERSION@_darwin_amd64.tar.gz"
      sha256 "@darwin_amd64.tar.gz@"
    end
  end

  on_linux do
    on_arm do
      url "https://github.com/label-state/label-state/releases/download/v@VERSION@/label-state_@VERSION@_linux_arm64.tar.gz"
      sha256 "@linux_arm64.tar.gz@"
    end
    on_intel do
      url "https://github.com/label-state/label-state/releases/download/v@VERSION@/label-state_@VERSION@_linux_amd64.tar.gz"
      sha256 "@linux_amd64.tar.gz@"
    end
  end

  def install
    bin.install "label-state", "label-state-pre-push", "label-state-pre-push-check"
    man1.install "label-state.1"
    generate_completions_from_executable(bin/"label-state", "completion")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/label-state version")
    assert_match "unknown command", shell_output("#{bin}/label-state clam 2>&1", 2)
  end
end
