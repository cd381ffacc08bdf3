import NIOSSL
import ServerTrust
import TrustForge
import X509

/// Certificates that count today, for BoringSSL looks at the machine's clock.
enum Forge {
    static let host = "example.org"
    static let today = TrustTime.now

    static let root = now(Blueprint.authority("Root of today")).signed()
    static let intermediate = now(Blueprint.authority("Intermediate of today")).signed(by: root)
    static let leaf = server()
    static let strangeRoot = now(Blueprint.authority("Strange root of today")).signed()
    static let stranger = now(Blueprint.leaf()).signed(by: strangeRoot)
    static let selfSigned = now(Blueprint.leaf("self-signed")).signed()
    /// Server and authority in one, as `openssl req -x509` makes them.
    static let ownRoot = now(Blueprint.authority("own root"))
        .with(\.names, [.dnsName(host)])
        .with(\.usage, nil)
        .signed()

    static func server(_ names: [String] = [host], _ change: (inout Blueprint) -> Void = { _ in }) -> Forged {
        var blueprint = now(Blueprint.leaf(names[0], names: names.map { .dnsName($0) }))
        change(&blueprint)
        return blueprint.signed(by: intermediate)
    }

    static func now(_ blueprint: Blueprint) -> Blueprint {
        blueprint.with(\.begins, today.advanced(by: .seconds(-86_400))).with(
            \.ends,
            today.advanced(by: .seconds(864_000))
        )
    }
}

extension Forged {
    func nioCertificate() throws -> NIOSSLCertificate { try NIOSSLCertificate(bytes: der, format: .der) }

    func nioKey() throws -> NIOSSLPrivateKey {
        try NIOSSLPrivateKey(bytes: Array(key.key.serializeAsPEM().pemString.utf8), format: .pem)
    }
}
