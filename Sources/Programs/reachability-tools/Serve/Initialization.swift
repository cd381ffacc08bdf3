import CommandLineSupport
import Glibc
import LinuxSupport
import ReachabilityChecks
import ReachabilityService
import SystemPackage

/// `reachability serve --init`: writes a first configuration. It contacts nothing.
struct Initialization {
    let arguments: ServeArguments
    /// Asks a question, and returns the answer; nil at the end of the input or without a terminal.
    var ask: (_ question: String) -> String? = { question in
        guard isatty(STDIN_FILENO) == 1 else { return nil }
        StandardError.write(question)
        return readLine()
    }
    /// Returns the traffic of a check of the line.
    var traffic: () throws -> [String] = { try NetworkCheck.traffic(of: [nil], CheckOptions()).map(\.description) }

    /// The answers from which a configuration is made.
    struct Answers: Hashable {
        /// Whether the gateway, the DNS servers and the network behind them are checked.
        var checksLine = false
        var anchors: [String] = []
        /// The URL of an ntfy topic, or an e-mail address; nil for the journal.
        var recipient: String?
    }

    /// Asks, writes the file, and prints how to start the service.
    func run() throws {
        let path = try path()
        if access(path, F_OK) == 0 { throw Self.failure(path, Errno.fileExists) }
        let text = Self.text(try answers())
        do { _ = try ServiceConfiguration(text) } catch {
            let problems = error.problems.map(\.text).joined(separator: "; ")
            throw ExitMessage("cannot make a configuration: \(problems)", .usage)
        }
        try Self.write(text, to: path)
        StandardOutput.write(text: "wrote \(path.printable)")
        StandardOutput.write(text: "start the service with: \(Self.start(path))")
    }

    /// Returns the file: that of `--config`, or the usual one.
    private func path() throws(ExitMessage) -> String {
        if let path = arguments.config { return path }
        if geteuid() == 0 { return Self.systemPath }
        for (name, folder) in [("XDG_CONFIG_HOME", ""), ("HOME", "/.config")] {
            guard let base = EnvironmentVariable.value(of: name), base.hasPrefix("/") else { continue }
            return "\(base)\(folder)/reachability/serve.toml"
        }
        throw ExitMessage(
            "cannot write the configuration: there is no home directory; name a file with --config",
            .usage
        )
    }

    private static let systemPath = "/etc/reachability/serve.toml"

    /// Returns the answers of the command line, and on a terminal those to the questions that it leaves open.
    func answers() throws -> Answers {
        var answers = Answers(checksLine: arguments.line, anchors: arguments.anchors, recipient: arguments.alert)
        if !arguments.line {
            let lines = try traffic().map { "  \($0)\n" }.joined()
            let question = "Check the line? Each check, by default every 30 s, may send:\n\(lines)[y/N] "
            answers.checksLine = isConfirmed(question)
        }
        if arguments.anchors.isEmpty {
            let question = "A URL of yours that proves that the internet works, such as https://example.org/ [none]: "
            answers.anchors = (ask(question) ?? "").words.map(String.init)
        }
        if arguments.alert == nil {
            let question = "Alerts to an e-mail address or the URL of an ntfy topic [the journal]: "
            answers.recipient = (ask(question) ?? "").words.first.map(String.init)
        }
        return answers
    }

    /// Asks a question until the answer is yes or no. An empty answer, the end of the input and a missing terminal mean no.
    private func isConfirmed(_ question: String) -> Bool {
        while let answer = ask(question)?.lowercased() {
            if ["y", "yes"].contains(answer) { return true }
            if ["n", "no", ""].contains(answer) { return false }
        }
        return false
    }

    /// Returns the configuration.
    static func text(_ answers: Answers) -> String {
        let anchors = answers.anchors.map { "\"\($0.escapedForTOML)\"" }.joined(separator: ", ")
        let checks =
            answers.checksLine
            ? "# The gateway, the DNS servers and the network behind them are probed.\nchecks = [\"network\"]"
            : "# With checks = [\"network\"] the gateway, the DNS servers and the network behind them are probed."
        let recipient = answers.recipient.map { "\"\($0.escapedForTOML)\"" }
        let channel =
            switch answers.recipient {
            case nil: "journal = true"
            case let text? where text.contains("://"): "format = \"ntfy\"\nwebhook = \(recipient ?? "")"
            case _?: "email = [\(recipient ?? "")]"
            }
        return """
            # The configuration of `reachability serve`. `reachability serve --check FILE` prints all errors of a file.
            schema = 1

            [listen]
            # The dashboard. Other machines need TLS: see "Query it from other machines" in the documentation.
            http = ["127.0.0.1:9672"]

            [anchors]
            # URLs of your servers that prove that the internet works. No other servers are contacted.
            urls = [\(anchors)]

            [[target]]
            name = "internet"
            at-large = true
            \(checks)

            # Further targets:
            # [[target]]
            # name = "erp"
            # host = "erp.example.org"
            # checks = ["tcp:22", { https = "/health" }]

            [[notify]]
            name = "alerts"
            \(channel)
            # The minimum duration of an incident. Shorter ones are not notified.
            after = "30s"

            """
    }

    /// Writes the file. An existing file is never replaced.
    private static func write(_ text: String, to path: String) throws(ExitMessage) {
        if let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex {
            try? OwnDirectory.make(String(path[..<slash]), mode: 0o755)
        }
        do {
            let file = try FileDescriptor.open(
                path,
                .writeOnly,
                options: [.create, .exclusiveCreate],
                permissions: [.ownerReadWrite, .groupRead, .otherRead]
            )
            _ = try file.closeAfter { try file.writeAll(text.utf8) }
        } catch {
            throw failure(path, error)
        }
    }

    private static func failure(_ path: String, _ error: any Error) -> ExitMessage {
        let hint = error as? Errno == .fileExists ? "; name another file with --config" : ""
        return ExitMessage("cannot write \(path.printable): \(error)\(hint)", .cantCreate)
    }

    private static func start(_ path: String) -> String {
        let hasUnit =
            geteuid() == 0 && path == systemPath && access("/lib/systemd/system/reachability.service", F_OK) == 0
        return hasUnit ? "systemctl enable --now reachability" : "reachability serve --config \(path.printable)"
    }
}

extension String {
    /// The text with quotation marks, backslashes and control characters escaped for a basic string of TOML.
    fileprivate var escapedForTOML: String {
        unicodeScalars.map { scalar in
            switch scalar {
            case "\"", "\\": "\\\(scalar)"
            case _ where scalar.value < 0x20 || scalar.value == 0x7f:
                "\\u00" + (scalar.value < 0x10 ? "0" : "") + String(scalar.value, radix: 16)
            default: String(scalar)
            }
        }.joined()
    }
}
