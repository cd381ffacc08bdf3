import LinuxSupport
import ServerTrust
import TrustForge

@testable import reachability_tools

/// A server that has shown its certificates, without a connection; `root.pem`, `stranger.pem` and `leaf.pem` lie in its directory.
struct JudgedServer {
    let directory: ScratchDirectory
    private let chain: [Forged]

    init(_ leaf: Forged = TrustWorld.leaf) throws {
        directory = try ScratchDirectory()
        chain = [leaf, TrustWorld.intermediate]
        for (name, forged) in [("root", TrustWorld.root), ("stranger", TrustWorld.stranger), ("leaf", leaf)] {
            _ = try directory.write("\(name).pem", [forged])
        }
    }

    func shown(_ anchors: String? = "root.pem") throws -> ShownServer {
        var trust = try ServerTrust(derEncodedChain: chain.map(\.der))
        if let anchors { trust.anchors = try AnchorFile.read("\(directory.path)/\(anchors)") }
        return ShownServer(trust: trust, version: "1.3")
    }

    /// The output of `reachability trust` for a policy, with DIR for the directory.
    func judge(
        _ policy: String? = nil,
        host: String = "example.org",
        anchors: String? = "root.pem",
        at time: TrustTime? = nil
    ) async throws -> Judged {
        let file = try policy.map { try directory.write("policy.json", $0) }
        let rules = try TrustRules(policyFile: file, anchors: anchors.map { "\(directory.path)/\($0)" })
        var shown = try shown(nil)
        rules.prepare(&shown.trust)
        shown.trust.time = time ?? shown.trust.time
        let server = try ServerAddress(host)
        let judgement = await rules.judge(shown.trust, forHost: server.host)
        let probe = ServerProbe(server: server, destination: try ServerAddress("127.0.0.1:1"))
        let output = TrustOutput(probe, shown, judgement, isAnotherTime: time != nil)
        let lines = output.lines.map { $0.replacing(directory.path, with: "DIR") }
        return Judged(
            isTrusted: output.isTrusted,
            lines: lines,
            json: String(decoding: output.json.bytes, as: UTF8.self)
        )
    }

    struct Judged {
        let isTrusted: Bool
        let lines: [String]
        let json: String
    }
}
