import LinuxSupport
package import NIOSSL
import ServerTrust
import SwiftASN1
package import TrustForge
import X509

/// The authority of the lab's servers, and one that nobody trusts.
package enum WebAuthority {
    /// Good ones are issued by it.
    package static let root = authority("Web Lab Root")
    /// What somebody in between would issue with.
    package static let stranger = authority("Web Lab Stranger")

    private static func authority(_ name: String) -> Forged {
        Blueprint.authority(name).with(\.begins, day(-3650)).with(\.ends, day(3650)).signed()
    }

    /// So many days from now.
    static func day(_ count: Int) -> TrustTime { TrustTime.now.advanced(by: .seconds(86_400 * count)) }

    /// Writes the good authority into a file that `SSL_CERT_FILE` may name, and returns its path.
    package static func write(to directory: ScratchDirectory) throws -> String {
        try directory.write("web-lab-root.pem", [root])
    }
}

/// What a server of the lab shows in a TLS handshake.
package struct WebIdentity: Sendable {
    /// The leaf first.
    package let chain: [Forged]
    /// Whether clients must show a certificate of ``WebAuthority/root``.
    package var demandsCertificate = false
    /// Whether it speaks TLS 1.0 and 1.1 alone, which nobody should any more (RFC 8996).
    package var isOld = false
    /// Whether it does not speak TLS 1.3.
    package var isLimitedTo12 = false

    package init(chain: [Forged]) {
        self.chain = chain
    }

    /// Valid for these names and addresses.
    package static func good(for hosts: String...) -> WebIdentity { WebIdentity(hosts) }
    package static func expired(for hosts: String...) -> WebIdentity { WebIdentity(hosts, days: -60 ... -1) }
    package static func notYetValid(for hosts: String...) -> WebIdentity { WebIdentity(hosts, days: 30...60) }
    package static func wrongName() -> WebIdentity { WebIdentity(["elsewhere.example"]) }

    /// Issued by ``WebAuthority/stranger``.
    package static func otherAuthority(for hosts: String...) -> WebIdentity {
        WebIdentity(hosts, authority: WebAuthority.stranger)
    }

    package static func selfSigned(for hosts: String...) -> WebIdentity {
        WebIdentity(chain: [blueprint(hosts, days: -1...60).signed()])
    }

    private init(_ hosts: [String], days: ClosedRange<Int> = -1...60, authority: Forged = WebAuthority.root) {
        self.init(chain: [Self.blueprint(hosts, days: days).signed(by: authority)])
    }

    private static func blueprint(_ hosts: [String], days: ClosedRange<Int>) -> Blueprint {
        let names: [GeneralName] = hosts.map { host in
            WireAddress(host).map { .ipAddress(ASN1OctetString(contentBytes: $0.bytes[...])) } ?? .dnsName(host)
        }
        var blueprint = Blueprint.leaf(hosts.first ?? "nobody", names: names)
        blueprint.begins = WebAuthority.day(days.lowerBound)
        blueprint.ends = WebAuthority.day(days.upperBound)
        // As large as the chains of real servers are: their certificates do not fit into one segment.
        blueprint.more = [padding]
        return blueprint
    }

    private static let padding = Certificate.Extension(
        oid: [1, 3, 6, 1, 4, 1, 99_999, 1],
        critical: false,
        value: [UInt8](repeating: 0x2e, count: 2500)[...]
    )

    /// - Parameter protocols: The application protocols (ALPN) of the server.
    package func context(protocols: [String] = []) throws -> NIOSSLContext {
        try .server(
            chain,
            versions: isOld ? 0...1 : isLimitedTo12 ? 0...2 : 0...3,
            protocols: protocols,
            clientAnchors: demandsCertificate ? [WebAuthority.root] : []
        )
    }
}
