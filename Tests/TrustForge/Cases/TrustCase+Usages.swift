import ServerTrust
import X509

extension TrustCase {
    static let usages: [TrustCase] = [
        below(
            .authority("Mute").with(\.usage, KeyUsage(cRLSign: true)),
            "an authority whose key is not for signing certificates",
            .keyUsage(subject: "Mute", needed: "signing certificates")
        ),
        below(
            root: .authority("Mute Root").with(\.usage, KeyUsage(digitalSignature: true)),
            "a root whose key is not for signing certificates",
            .keyUsage(subject: "Mute Root", needed: "signing certificates")
        ),
        below(.authority("Silent").with(\.usage, nil), "an authority without keyUsage"),
        leaf("a server without keyUsage") { $0.usage = nil },
        leaf("a server whose key is for key agreement") { $0.usage = KeyUsage(keyAgreement: true) },
        TrustCase("a server whose key is for key encipherment") {
            let usage = KeyUsage(keyEncipherment: true)
            $0.send(Blueprint.leaf().with(\.usage, usage).signed(by: World.rsaIntermediate), World.rsaIntermediate)
            $0.trust(World.rsaRoot)
        },
        leaf("a server whose key is for revocation lists", .keyUsage(subject: World.host, needed: "TLS")) {
            $0.usage = KeyUsage(cRLSign: true)
        },
        leaf("only for clients", .extendedKeyUsage(subject: World.host)) { $0.purposes = [.clientAuth] },
        TrustCase("only for code signing, purposes not verified") {
            $0.send(World.leaf { $0.purposes = [.codeSigning] }, World.intermediate)
            $0.requirements.requiresServerAuthentication = false
            $0.openSSL = .cannotSay
        },
        leaf("for clients and servers") { $0.purposes = [.clientAuth, .serverAuth] },
        leaf("for any purpose", .extendedKeyUsage(subject: World.host)) { $0.purposes = [.any] },
        leaf("no extendedKeyUsage") { $0.purposes = [] },
        below(
            .authority("Clients").with(\.purposes, [.clientAuth]),
            "an intermediate only for clients",
            .extendedKeyUsage(subject: "Clients")
        ),
        below(.authority("Servers").with(\.purposes, [.serverAuth]), "an intermediate for servers"),
        below(
            .authority("Any").with(\.purposes, [.any]),
            "an intermediate for any purpose",
            openSSL: .differs("RFC 5280, 4.2.1.12: any includes every purpose")
        ),
    ]
}
