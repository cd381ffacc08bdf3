import ArgumentParser
import CommandLineSupport
import Netlink
import ServerTrust

/// `reachability trust`: judges a server as a client with that policy file would.
struct Trust: AsyncParsableCommand {
    static let configuration = TrustArguments.configuration

    @OptionGroup var arguments: TrustArguments

    func run() async throws {
        let limit = try TimeLimit(arguments.timeLimit)
        let server = try ServerAddress(arguments.server)
        let look = ServerLook(
            server: server,
            destination: try arguments.connectTo.map { text throws(ExitMessage) in
                try ServerAddress(text, defaultPort: server.port)
            } ?? server
        )
        let time = try arguments.at.map(Self.time)
        let rules = try TrustRules(policyFile: arguments.policy)
        let output = try await limit.enforce(waitingFor: "\(server) to be judged") {
            do {
                var shown = try await look.shown()
                rules.prepare(&shown.trust)
                shown.trust.time = time ?? shown.trust.time
                let judgement = await rules.judge(shown.trust, forHost: server.host)
                return TrustOutput(look, shown, judgement, isAnotherTime: time != nil)
            } catch let error as ServerTrustError {
                return TrustOutput(look, unreadable: error)
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
