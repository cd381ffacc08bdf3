import ArgumentParser
import CommandLineSupport
import LinuxSupport
import Netlink
import ServerTrust

/// `reachability trust`: judges a server as a client with that policy file would.
struct Trust: AsyncParsableCommand, ServerQuery {
    static let configuration = TrustArguments.configuration

    @OptionGroup var arguments: TrustArguments

    var options: ServerOptions { arguments.options }

    func run() async throws {
        let limit = try TimeLimit(arguments.timeLimit)
        let server = try ServerAddress(arguments.server)
        let probe = ServerProbe(
            server: server,
            destination: try options.destination(server)
        )
        let time = try arguments.at.map(Self.time)
        let rules = try TrustRules(policyFile: arguments.policy, anchors: options.anchors)
        let output = try await limit.enforce(waitingFor: "\(server) to be judged") {
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
        if arguments.json { StandardOutput.write(output.json.bytes) } else { Table.write(output.lines) }
        if !output.isTrusted { throw ExitCode(1) }
    }

    private static func time(_ text: String) throws(ExitMessage) -> TrustTime {
        guard let time = TrustTime(text) else {
            throw ExitMessage(
                "\"\(text.printable)\" is no time: write 2027-11-01 or 2027-11-01T12:00:00Z, in Universal Time",
                .usage
            )
        }
        return time
    }
}
