import ArgumentParser
import CommandLineSupport
import Glibc
import LinuxSupport
import Netlink
import NetworkReachability
import ServerTrust

/// `reachability trust`: evaluates a server like a client with the policy file.
struct Trust: AsyncParsableCommand, ServerQuery {
    static let configuration = TrustArguments.configuration

    @OptionGroup var arguments: TrustArguments

    var options: ServerOptions { arguments.options }

    func run() async throws {
        let limit = try TimeLimit(options.timeLimit)
        let server = try ServerAddress(arguments.server)
        let probe = ServerProbe(
            server: server,
            destination: try options.destination(server)
        )
        let time = try arguments.at.map(Self.time)
        let rules = try TrustRules(policyFile: arguments.policy, anchors: options.anchors)
        let output = try await limit.enforce(waitingFor: "the evaluation of \(server)") {
            do {
                var shown = try await probe.shown()
                rules.prepare(&shown.trust)
                shown.trust.time = time ?? shown.trust.time
                let judgement = await rules.judge(shown.trust, forHost: server.host)
                return TrustOutput(probe, shown, judgement, isAnotherTime: time != nil)
            } catch let error as ServerTrustError {
                return TrustOutput(probe, unreadable: error)
            }
        }
        if options.json { StandardOutput.write(output.json.bytes) } else { Table.write(output.lines) }
        if !output.isTrusted { throw ExitCode(1) }
    }

    private static func time(_ text: String) throws(ExitMessage) -> TrustTime {
        guard let time = TrustTime(text) else {
            throw ExitMessage(
                "\"\(text.printable)\" is not a time; write 2027-11-01 or 2027-11-01T12:00:00Z, in UTC",
                .usage
            )
        }
        return time
    }
}

/// `reachability pin`: prints the pins of a trusted or untrusted server.
struct Pin: AsyncParsableCommand, ServerQuery {
    static let configuration = PinArguments.configuration

    @OptionGroup var arguments: PinArguments

    var options: ServerOptions { arguments.options }

    func run() async throws {
        let limit = try TimeLimit(options.timeLimit)
        let server = try ServerAddress(arguments.server)
        let anchors = try options.anchors.map { try AnchorFile.read($0) }
        let probe = ServerProbe(server: server, destination: try options.destination(server))
        var shown: ShownServer
        do {
            shown = try await limit.enforce(waitingFor: "the certificates of \(server)") { try await probe.shown() }
        } catch let error as ServerTrustError {
            throw ExitMessage("cannot pin \(server): \("\(error.reason)".printable)", .unavailable)
        }
        shown.trust.anchors = anchors ?? .system
        let output = PinOutput(server: server, shown: shown, anchors: options.anchors)
        if options.json { StandardOutput.write(output.json.bytes) } else { Table.write(output.lines) }
    }
}

/// Reads the file of `--anchors`.
enum AnchorFile {
    static func read(_ path: String) throws(ExitMessage) -> TrustAnchors {
        do {
            return TrustAnchors(try CertificateFiles.read(path))
        } catch .file(let path, let cause) {
            throw ExitMessage("cannot read the anchors in \(path.printable): \(cause)", .noInput)
        } catch .unreadable {
            throw ExitMessage(
                "cannot use \(path.printable): it has no readable certificate; --anchors takes certificates in PEM or DER",
                .dataError
            )
        } catch {
            throw ExitMessage("cannot use \(path.printable): it has no certificate for an anchor: \(error)", .dataError)
        }
    }
}

/// The time limit of a command for all its steps. A name lookup cannot be interrupted, so the limit ends the program.
struct TimeLimit: Sendable {
    private let argument: DurationArgument
    private let duration: Duration

    /// - Throws: ``ExitMessage`` if the text is not a duration.
    init(_ argument: DurationArgument) throws {
        self.argument = argument
        duration = try argument.value
    }

    /// Performs work. At the time limit, ends the program with a message that names the missing result.
    func enforce<Value: Sendable>(
        waitingFor what: String,
        _ work: () async throws -> Value
    ) async throws -> Value {
        let isOver = Locked(false)
        let (argument, duration) = (argument, duration)
        let clock = Task {
            try await Task.sleep(for: duration)
            guard isOver.withLock({ $0 }) == false else { return }
            StandardError.report(
                "timeout after \(argument.text) while waiting for \(what); allow more with --time-limit"
            )
            exit(ExitMessage.Status.temporaryFailure.rawValue)
        }
        defer {
            isOver.withLock { $0 = true }
            clock.cancel()
        }
        return try await work()
    }
}

/// A subcommand that connects to a TLS server.
protocol ServerQuery {
    var options: ServerOptions { get }
}

extension ServerOptions {
    /// Moves the process into the given namespace, with the name servers and hosts of `/etc/netns/NAME`. Must be called on the first thread
    /// before another is started, because threads inherit the namespace.
    ///
    /// - Throws: An error if the namespace is missing or the permission to enter it is missing.
    func enterNamespace() throws {
        try namespaceOptions.namespace.enter()
    }

    /// Returns the destination of the connection: `--connect-to`, or the server itself.
    func destination(_ server: ServerAddress) throws(ExitMessage) -> ServerAddress {
        guard let connectTo else { return server }
        return try ServerAddress(connectTo, defaultPort: server.port)
    }
}
