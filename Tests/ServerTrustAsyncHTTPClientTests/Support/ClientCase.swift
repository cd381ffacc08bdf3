import ServerTrust
import TrustForge
import X509

/// A server, a manager and the expected verdict, for both protocols and both kinds of verification.
struct ClientCase: Sendable, CustomStringConvertible {
    enum Expected: Sendable {
        case trusted
        case refused(String)
    }

    let description: String
    var chain = [Forge.leaf, Forge.intermediate]
    var manager = ServerTrustManager(evaluators: [Forge.host: DefaultTrustEvaluator()])
    let expected: Expected
    /// Whether full verification by BoringSSL refuses the server before the manager evaluates it.
    var isRefusedInHandshake = false

    init(_ description: String, _ expected: Expected, _ change: (inout ClientCase) -> Void = { _ in }) {
        self.description = description
        self.expected = expected
        change(&self)
    }

    mutating func evaluate(_ evaluator: any ServerTrustEvaluating) {
        manager = ServerTrustManager(evaluators: [Forge.host: evaluator])
    }

    mutating func pin(_ pins: Forged...) {
        guard let set = try? PinSet(pins.map(\.pin), requiresBackup: false) else { return }
        evaluate(PinSetTrustEvaluator(pins: set))
    }

    static let all: [ClientCase] = [
        ClientCase("good", .trusted),
        ClientCase("wrong host", .refused("hostMismatch")) {
            $0.chain[0] = Forge.server(["other.example"])
            $0.isRefusedInHandshake = true
        },
        ClientCase("expired", .refused("expired")) {
            $0.chain[0] = Forge.server { $0.ends = TrustTime.now.advanced(by: .seconds(-3600)) }
            $0.isRefusedInHandshake = true
        },
        ClientCase("unknown root", .refused("unknownIssuer")) {
            $0.chain = [Forge.stranger]
            $0.isRefusedInHandshake = true
        },
        ClientCase("missing intermediate", .refused("unknownIssuer")) {
            $0.chain = [Forge.leaf]
            $0.isRefusedInHandshake = true
        },
        ClientCase("pinned key of the intermediate", .trusted) { $0.pin(Forge.intermediate) },
        ClientCase("pinned key of another", .refused("pinMismatch")) { $0.pin(Forge.strangeRoot) },
        ClientCase("no evaluator, all hosts must be evaluated", .refused("noEvaluator")) {
            $0.manager = ServerTrustManager(evaluators: ["elsewhere.example": DefaultTrustEvaluator()])
        },
        ClientCase("no evaluator", .trusted) {
            $0.manager = ServerTrustManager(allHostsMustBeEvaluated: false, evaluators: [:])
        },
        ClientCase("disabled", .trusted) {
            $0.chain = [Forge.stranger]
            $0.evaluate(DisabledTrustEvaluator())
            $0.isRefusedInHandshake = true
        },
        ClientCase("pinned and self-signed", .trusted) {
            $0.chain = [Forge.selfSigned]
            $0.evaluate(
                PinnedCertificatesTrustEvaluator(
                    certificates: [Forge.selfSigned.certificate],
                    acceptSelfSignedCertificates: true
                )
            )
            $0.isRefusedInHandshake = true
        },
        ClientCase("revoked", .refused("revoked")) { $0.evaluate(RevocationTrustEvaluator()) },
    ]
}
