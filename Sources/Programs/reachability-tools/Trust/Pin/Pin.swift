import ArgumentParser
import CommandLineSupport
import LinuxSupport
import Netlink
import ServerTrust

/// `reachability pin`: looks, and refuses nobody.
struct Pin: AsyncParsableCommand, ServerQuery {
    static let configuration = PinArguments.configuration

    @OptionGroup var arguments: PinArguments

    var options: ServerOptions { arguments.options }

    func run() async throws {
        let limit = try TimeLimit(arguments.timeLimit)
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
        if arguments.json { StandardOutput.write(output.json.bytes) } else { Table.write(output.lines) }
    }
}

/// What `--anchors` names.
enum AnchorFile {
    static func read(_ path: String) throws(ExitMessage) -> TrustAnchors {
        do {
            return TrustAnchors(try CertificateFiles.read(path))
        } catch .file(let path, let cause) {
            throw ExitMessage("cannot read the anchors in \(path.printable): \(cause)", .noInput)
        } catch .unreadable {
            throw ExitMessage(
                "\(path.printable) has no certificate that can be read: --anchors takes certificates in PEM or DER",
                .dataError
            )
        } catch {
            throw ExitMessage("\(path.printable) has no certificate that can be an anchor: \(error)", .dataError)
        }
    }
}
