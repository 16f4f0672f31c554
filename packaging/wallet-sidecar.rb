# Homebrew formula. The build fills in version and checksums.
class WalletSidecar < Formula
  desc "Local HTTP API to a self-custodial Bitcoin and Lightning wallet"
  homepage "https://wallet-sidecar.example"
  version "{{version}}"
  license "MIT"

  on_macos do
    on_arm do
      url "https://wallet-sidecar.example/releases/v#{version}/wallet-sidecar-darwin-arm64"
      sha256 "{{wallet-sidecar-darwin-arm64}}"
    end
    on_intel do
      url "https://wallet-sidecar.example/releases/v#{version}/wallet-sidecar-darwin-x64"
      sha256 "{{wallet-sidecar-darwin-x64}}"
    end
  end

  on_linux do
    on_arm do
      url "https://wallet-sidecar.example/releases/v#{version}/wallet-sidecar-linux-arm64"
      sha256 "{{wallet-sidecar-linux-arm64}}"
    end
    on_intel do
      url "https://wallet-sidecar.example/releases/v#{version}/wallet-sidecar-linux-x64"
      sha256 "{{wallet-sidecar-linux-x64}}"
    end
  end

  def install
    bin.install Dir["wallet-sidecar-*"].first => "wallet-sidecar"
    generate_completions_from_executable(bin/"wallet-sidecar", "completions", shells: [:bash, :zsh, :fish])
  end

  service do
    run [opt_bin/"wallet-sidecar", "serve", "--log-format", "json"]
    keep_alive true
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/wallet-sidecar --version")
  end
end
