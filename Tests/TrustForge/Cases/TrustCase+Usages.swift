import ServerTrust
import X509

extension TrustCase {
    static let usages: [TrustCase] = [
        TrustCase("an authority whose key is not for signing certificates") {
            let middle = Blueprint.authority("Mute").with(\.usage, KeyUsage(cRLSign: true)).signed(by: World.root)
            $0.send(Blueprint.leaf().signed(by: middle), middle)
            $0.refuse(.keyUsage(subject: "Mute", needed: "signing certificates"))
        },
        TrustCase("a root whose key is not for signing certificates") {
            let root = Blueprint.authority("Mute Root").with(\.usage, KeyUsage(digitalSignature: true)).signed()
            $0.send(Blueprint.leaf().signed(by: root))
            $0.trust(root)
            $0.refuse(.keyUsage(subject: "Mute Root", needed: "signing certificates"))
        },
        TrustCase("an authority without keyUsage") {
            let middle = Blueprint.authority("Silent").with(\.usage, nil).signed(by: World.root)
            $0.send(Blueprint.leaf().signed(by: middle), middle)
        },
        TrustCase("a server without keyUsage") { $0.send(World.leaf { $0.usage = nil }, World.intermediate) },
        TrustCase("a server whose key is for key agreement") {
            $0.send(World.leaf { $0.usage = KeyUsage(keyAgreement: true) }, World.intermediate)
        },
        TrustCase("a server whose key is for key encipherment") {
            let usage = KeyUsage(keyEncipherment: true)
            $0.send(Blueprint.leaf().with(\.usage, usage).signed(by: World.rsaIntermediate), World.rsaIntermediate)
            $0.trust(World.rsaRoot)
        },
        TrustCase("a server whose key is for revocation lists") {
            $0.send(World.leaf { $0.usage = KeyUsage(cRLSign: true) }, World.intermediate)
            $0.refuse(.keyUsage(subject: World.host, needed: "TLS"))
        },
        TrustCase("only for clients") {
            $0.send(World.leaf { $0.purposes = [.clientAuth] }, World.intermediate)
            $0.refuse(.extendedKeyUsage(subject: World.host))
        },
        TrustCase("only for code signing, purposes not verified") {
            $0.send(World.leaf { $0.purposes = [.codeSigning] }, World.intermediate)
            $0.requirements.requiresServerAuthentication = false
            $0.openSSL = .cannotSay
        },
        TrustCase("for clients and servers") {
            $0.send(World.leaf { $0.purposes = [.clientAuth, .serverAuth] }, World.intermediate)
        },
        TrustCase("for any purpose") {
            $0.send(World.leaf { $0.purposes = [.any] }, World.intermediate)
            $0.refuse(.extendedKeyUsage(subject: World.host))
        },
        TrustCase("no extendedKeyUsage") { $0.send(World.leaf { $0.purposes = [] }, World.intermediate) },
        TrustCase("an intermediate only for clients") {
            let middle = Blueprint.authority("Clients").with(\.purposes, [.clientAuth]).signed(by: World.root)
            $0.send(Blueprint.leaf().signed(by: middle), middle)
            $0.refuse(.extendedKeyUsage(subject: "Clients"))
        },
        TrustCase("an intermediate for servers") {
            let middle = Blueprint.authority("Servers").with(\.purposes, [.serverAuth]).signed(by: World.root)
            $0.send(Blueprint.leaf().signed(by: middle), middle)
        },
        TrustCase("an intermediate for any purpose") {
            let middle = Blueprint.authority("Any").with(\.purposes, [.any]).signed(by: World.root)
            $0.send(Blueprint.leaf().signed(by: middle), middle)
            $0.openSSL = .differs("RFC 5280, 4.2.1.12: any includes every purpose")
        },
    ]
}
