# Homebrew formula. The build fills in version and checksums.
class WalletSidecar < Formula
  desc "Local HTTP API to a self-custodial Bitcoin and Lightning wallet"
  homepage "https://wallet-sidecar.example"
  version "{{version}}"
  license "MIT"

  on_macos do
    on_arm do
      url "https://wallet-sidecar.example/releases/v#{version}/wallet-sidecar-darwin-arm64.tar.xz"
      sha256 "{{wallet-sidecar-darwin-arm64.tar.xz}}"
    end
    on_intel do
      url "https://wallet-sidecar.example/releases/v#{version}/wallet-sidecar-darwin-x64.tar.xz"
      sha256 "{{wallet-sidecar-darwin-x64.tar.xz}}"
    end
  end

  on_linux do
    on_arm do
      url "https://wallet-sidecar.example/releases/v#{version}/wallet-sidecar-linux-arm64.tar.xz"
      sha256 "{{wallet-sidecar-linux-arm64.tar.xz}}"
    end
    on_intel do
      url "https://wallet-sidecar.example/releases/v#{version}/wallet-sidecar-linux-x64.tar.xz"
      sha256 "{{wallet-sidecar-linux-x64.tar.xz}}"
    end
  end

  def install
    bin.install "wallet-sidecar"
    bash_completion.install "completions/wallet-sidecar.bash" => "wallet-sidecar"
    zsh_completion.install "completions/_wallet-sidecar"
    fish_completion.install "completions/wallet-sidecar.fish"
    man1.install Dir["man/*.1"]
    doc.install "THIRD_PARTY_NOTICES.txt"
  end

  def post_install
    (etc/"wallet-sidecar").mkpath
    (etc/"wallet-sidecar").chmod 0700
  end

  service do
    run [
      opt_bin/"wallet-sidecar", "serve", "--require-auth", "--log-format", "json",
      "--client-credentials-path", etc/"wallet-sidecar/client-credentials"
    ]
    # A wrong setting ends it with an exit code, which a restart does not correct.
    keep_alive crashed: true
    working_dir HOMEBREW_PREFIX
    log_path var/"log/wallet-sidecar.log"
    error_log_path var/"log/wallet-sidecar.log"
  end

  def caveats
    <<~TEXT
      The service reads its credentials from
        #{etc}/wallet-sidecar/client-credentials
      Write them with `wallet-sidecar connect lnd` or `wallet-sidecar connect cln` (see --help of each), make the file
      readable by you alone, and then run
        brew services start wallet-sidecar
      What it says is in
        #{var}/log/wallet-sidecar.log
      It asks callers for credentials; the command line finds the owner's by itself.
      An LDK node is not for this service: run `wallet-sidecar serve --node ldk` by yourself.
      To try it without a node: wallet-sidecar dev
    TEXT
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/wallet-sidecar --version")
  end
end
