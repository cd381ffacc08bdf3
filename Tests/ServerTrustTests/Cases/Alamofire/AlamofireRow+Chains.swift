import ServerTrust
import TrustForge

private typealias World = AlamofireWorld

extension AlamofireRow {
    /// Expectations of the system's evaluation in the tests of Alamofire 4, Alamofire 5 and AFNetworking: first
    /// chains for any purpose, then chains for TLS servers with a host.
    static let chains: [AlamofireRow] = [
        anyPurpose("the root is sent", World.nameAndURI, World.signing1, World.root),
        anyPurpose("the root is not sent", World.nameAndURI, World.signing1),
        anyPurpose("no names", World.noNames, World.signing2, World.root),
        anyPurpose("expired", World.expired, World.signing2, World.root) { $0.refuse(.hasExpired(World.expired)) },
        server("the root is sent", World.nameAndURI, World.signing1, World.root),
        server("the root is not sent", World.nameAndURI, World.signing1),
        server("no names", World.noNames, World.signing2, World.root) { $0.refuse(.hasNoNames(World.noNames)) },
        server("a wildcard", World.wildcard, World.signing1, World.root),
        server("the name", World.validName, World.signing2, World.root),
        server("a URI, no name", World.validURI, World.signing2, World.root) { $0.refuse(.hasNoNames(World.validURI)) },
        server("the first of several names", World.multipleNames, World.signing1, World.root) {
            $0.host = World.hosts[0]
        },
        server("the second of several names", World.multipleNames, World.signing1, World.root) {
            $0.host = World.hosts[1]
        },
        server("the third of several names", World.multipleNames, World.signing1, World.root) {
            $0.host = World.hosts[2]
        },
        AlamofireRow(
            "for servers, no host: no names",
            [World.noNames, World.signing2, World.root],
            .chain(validateHost: false)
        ),
        server("expired", World.expired, World.signing2, World.root) { $0.refuse(.hasExpired(World.expired)) },
    ]

    private static func anyPurpose(
        _ name: String,
        _ sent: Forged...,
        change: (inout AlamofireRow) -> Void = { _ in }
    ) -> AlamofireRow {
        AlamofireRow("for any purpose: \(name)", sent, .chain(validateHost: false)) {
            $0.isForServers = false
            change(&$0)
        }
    }

    private static func server(
        _ name: String,
        _ sent: Forged...,
        change: (inout AlamofireRow) -> Void = { _ in }
    ) -> AlamofireRow {
        AlamofireRow("for servers: \(name)", sent, .chain(validateHost: true), change)
    }
}
