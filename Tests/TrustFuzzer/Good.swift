import ServerTrust
import TrustForge
import X509

/// The valid chains. No other chain may be trusted.
enum Good {
    struct Family: Sendable {
        let leaf: Forged
        let intermediate: Forged
        let root: Forged
    }

    static let families = [
        Family(leaf: World.leaf, intermediate: World.intermediate, root: World.root),
        Family(leaf: World.rsaLeaf, intermediate: World.rsaIntermediate, root: World.rsaRoot),
        mixed,
    ]

    private static let mixed: Family = {
        let root = Blueprint.authority("P-384 Root").with(\.key, .p384("P-384 Root")).signed()
        let intermediate = Blueprint.authority("Ed25519 Intermediate").with(\.key, .ed25519("Ed25519 Intermediate"))
            .signed(by: root)
        return Family(leaf: Blueprint.leaf().signed(by: intermediate), intermediate: intermediate, root: root)
    }()

    static let intermediates = families.map(\.intermediate.der)
    static let anchors = TrustAnchors(families.map(\.root.certificate))
    private static let certificates = Set(families.flatMap { [$0.leaf.der, $0.intermediate.der, $0.root.der] })

    static func trust(_ sent: [[UInt8]]) throws(ServerTrustError) -> ServerTrust {
        var trust = try ServerTrust(derEncodedChain: sent, host: World.host)
        trust.anchors = anchors
        trust.time = World.now
        return trust
    }

    /// Returns the result of a trust. A chain may pass if each of its certificates has exactly its forged bytes.
    /// Damage of other sent certificates is permitted.
    static func judge(_ trust: ServerTrust) -> Finding {
        do {
            let chain = try trust.validatedChain(forHost: World.host)
            for certificate in chain.certificates where !certificates.contains(certificate.derRepresentation) {
                return .forbidden("the chain has a certificate that was not forged so: \(certificate)")
            }
            return .passed
        } catch {
            return .refused(by: error.reason)
        }
    }

    static func judge(_ sent: [[UInt8]]) -> Finding {
        do {
            return judge(try trust(sent))
        } catch {
            return .refused(by: error.reason)
        }
    }
}
