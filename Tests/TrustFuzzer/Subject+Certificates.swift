import ServerTrust
import TrustForge

extension Subject {
    /// A server certificate, with all intermediates.
    static let leaf = Subject(name: "server's certificate", seeds: Good.families.map(\.leaf.der)) {
        Good.judge([$0] + Good.intermediates)
    }

    /// An intermediate, with each server certificate. The result is the first one that is not a missing issuer.
    static let intermediate = Subject(name: "intermediate", seeds: Good.families.map(\.intermediate.der)) { bytes in
        var refused = Finding.refused("unknownIssuer")
        for family in Good.families {
            switch Good.judge([family.leaf.der, bytes]) {
            case .refused("unknownIssuer"): continue
            case .refused(let reason): refused = .refused(reason)
            case let other: return other
            }
        }
        return refused
    }

    /// The certificates of a server, each preceded by its length in two bytes.
    static let chain = Subject(name: "chain", seeds: chains.map(joined)) { Good.judge(split($0)) }

    private static var chains: [[[UInt8]]] {
        Good.families.flatMap { family in
            let chain = [family.leaf.der, family.intermediate.der]
            return [chain, chain + [family.root.der], chain + [World.strangeLeaf.der], chain + Good.intermediates]
        }
    }

    private static func joined(_ chain: [[UInt8]]) -> [UInt8] {
        chain.flatMap { [UInt8($0.count >> 8), UInt8($0.count & 0xff)] + $0 }
    }

    private static func split(_ bytes: [UInt8]) -> [[UInt8]] {
        var chain: [[UInt8]] = []
        var rest = bytes[...]
        while rest.count >= 2 {
            let count = Int(rest.removeFirst()) << 8 | Int(rest.removeFirst())
            chain.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return chain
    }

    /// An anchor, as a root and as the server's own certificate. A damaged one may pass, because it was configured as
    /// an anchor. Its policies are evaluated although it is not signed.
    static let anchor = Subject(name: "anchor", seeds: Good.families.flatMap { [$0.root.der, $0.leaf.der] }) { bytes in
        do {
            let anchor = try TrustCertificate(derEncoded: bytes)
            var passes = false
            var reason: TrustFailure?
            for sent in [[World.leaf.der, World.intermediate.der], [bytes]] {
                do {
                    var trust = try Good.trust(sent)
                    trust.anchors = TrustAnchors([anchor])
                    try DefaultTrustEvaluator().evaluate(trust, forHost: World.host)
                    passes = true
                } catch let error as ServerTrustError {
                    reason = error.reason
                }
            }
            return passes ? .passed : reason.map { .refused(by: $0) } ?? .refused("unknown")
        } catch {
            return .refused(by: error)
        }
    }

    /// A certificate whose RSA algorithms lack the required NULL. Its key may be pinned without chain validation. No
    /// chain with it may be valid.
    static let withoutParameters = Subject(
        name: "certificate without parameters",
        seeds: LackingParameters.allCases.map { World.rsaLeaf.lacking($0, signedBy: World.rsaIntermediate.key).der }
    ) { bytes in
        do {
            let trust = try Good.trust([bytes] + Good.intermediates)
            let certificate = trust.leaf
            guard certificate.derRepresentation == bytes else { return .forbidden("it was read as other bytes") }
            if case .passed = Good.judge(trust) { return .forbidden("it is part of a valid chain") }
            let key = certificate.publicKey.subjectPublicKeyInfo
            guard bytes.indices.contains(where: { bytes[$0...].starts(with: key) }) else {
                return .forbidden("its key is not in its bytes")
            }
            try PublicKeysTrustEvaluator(keys: pinned, performDefaultValidation: false, validateHost: false)
                .evaluate(trust, forHost: World.host)
            return .passed
        } catch let error as ServerTrustError {
            return .refused(by: error.reason)
        } catch {
            return .refused(by: error)
        }
    }

    private static let pinned = LackingParameters.allCases.map {
        World.rsaLeaf.lacking($0, signedBy: World.rsaIntermediate.key).certificate.publicKey
    }
}
