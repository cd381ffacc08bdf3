import LinuxSupport
import ServerTrust
import TrustForge
import X509

/// An evaluator that records the hosts, and runs an action before its verdict.
struct PlayedEvaluator: ServerTrustEvaluating {
    let hosts = Locked<[String]>([])
    var deed: @Sendable () async -> Void = {}

    func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        try DefaultTrustEvaluator().evaluate(trust, forHost: host)
    }

    func evaluateOnline(_ trust: ServerTrust, forHost host: String) async throws(ServerTrustError) {
        hosts.withLock { $0.append(host) }
        await deed()
        try evaluate(trust, forHost: host)
    }
}

/// A checker that reports the certificate of the valid server as revoked. The status is known only to asynchronous
/// evaluations, and unknown for other certificates.
struct PlayedRevocation: RevocationChecking {
    func knownStatus(of chain: ValidatedChain, in trust: ServerTrust, flags: RevocationFlags) -> RevocationStatus {
        .unknown(chain.leaf, detail: RevocationDoubt([]))
    }

    func status(
        of chain: ValidatedChain,
        in trust: ServerTrust,
        flags: RevocationFlags
    ) async -> RevocationStatus {
        guard chain.leaf == Forge.leaf.certificate else { return knownStatus(of: chain, in: trust, flags: flags) }
        return .revoked(chain.leaf, detail: RevocationRecord(source: .other("the test")))
    }
}

/// Certificates that are valid today, because BoringSSL uses the machine's clock.
enum Forge {
    static let host = "example.org"

    static let root = Blueprint.authority("Root of today").current.signed()
    static let intermediate = Blueprint.authority("Intermediate of today").current.signed(by: root)
    static let leaf = server()
    static let strangeRoot = Blueprint.authority("Strange root of today").current.signed()
    static let stranger = Blueprint.leaf().current.signed(by: strangeRoot)
    static let selfSigned = Blueprint.leaf("self-signed").current.signed()
    /// A certificate that is server and authority in one, as created by `openssl req -x509`.
    static let ownRoot = Blueprint.authority("own root").current
        .with(\.names, [.dnsName(host)])
        .with(\.usage, nil)
        .signed()

    static func server(_ names: [String] = [host], _ change: (inout Blueprint) -> Void = { _ in }) -> Forged {
        var blueprint = Blueprint.leaf(names[0], names: names.map { .dnsName($0) }).current
        change(&blueprint)
        return blueprint.signed(by: intermediate)
    }
}
