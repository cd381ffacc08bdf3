package import ServerTrust

/// One server, and the expected verdict.
package struct TrustCase: Sendable {
    package enum Verdict: Hashable, Sendable {
        case trusted
        case refused(TrustFailure)
    }

    /// The comparison with `openssl verify`.
    package enum OpenSSL: Sendable {
        /// The verdict is the same.
        case agrees
        /// The verdict differs. The value is the reason why the expected one is correct.
        case differs(String)
        /// `openssl verify` does not support the case.
        case cannotSay
    }

    package let name: String
    package var sent: [[UInt8]] = [World.leaf.der, World.intermediate.der]
    /// The private key of the first certificate, which a server needs for a handshake.
    package var key = World.leaf.key
    package var anchors: [TrustCertificate] = [World.root.certificate]
    package var host = World.host
    package var time = World.now
    package var requirements = TrustRequirements()
    package var evaluator: any ServerTrustEvaluating = DefaultTrustEvaluator()
    package var expected: Verdict = .trusted
    package var openSSL = OpenSSL.agrees

    package init(_ name: String, _ change: (inout TrustCase) -> Void) {
        self.name = name
        change(&self)
    }

    /// Returns a case with a server certificate that is signed by the shared intermediate.
    static func leaf(
        _ name: String,
        _ failure: TrustFailure? = nil,
        openSSL: OpenSSL = .agrees,
        host: String = World.host,
        _ change: (inout Blueprint) -> Void
    ) -> TrustCase {
        TrustCase(name) {
            $0.send(World.leaf(change), World.intermediate)
            $0.host = host
            $0.openSSL = openSSL
            if let failure { $0.refuse(failure) }
        }
    }

    /// Returns a case with a server certificate below an authority that is signed by the shared root.
    static func below(
        _ authority: Blueprint,
        _ name: String,
        _ failure: TrustFailure? = nil,
        openSSL: OpenSSL = .agrees
    ) -> TrustCase {
        TrustCase(name) {
            let authority = authority.signed(by: World.root)
            $0.send(Blueprint.leaf().signed(by: authority), authority)
            $0.openSSL = openSSL
            if let failure { $0.refuse(failure) }
        }
    }

    /// Returns a case with a server certificate below a root, which is the only anchor.
    static func below(
        root: Blueprint,
        _ name: String,
        _ failure: TrustFailure? = nil,
        openSSL: OpenSSL = .agrees
    ) -> TrustCase {
        TrustCase(name) {
            let root = root.signed()
            $0.send(Blueprint.leaf().signed(by: root))
            $0.trust(root)
            $0.openSSL = openSSL
            if let failure { $0.refuse(failure) }
        }
    }

    /// Sets the certificates that the server sends, its own first.
    package mutating func send(_ certificates: Forged...) {
        send(certificates)
    }

    /// Sets the certificates that the server sends, its own first.
    package mutating func send(_ certificates: [Forged]) {
        sent = certificates.map(\.der)
        if let first = certificates.first { key = first.key }
    }

    /// Sets the anchors.
    package mutating func trust(_ certificates: Forged...) {
        anchors = certificates.map(\.certificate)
    }

    package mutating func refuse(_ failure: TrustFailure) {
        expected = .refused(failure)
    }

    package func trust(cache: ValidatedChainCache? = nil) throws -> ServerTrust {
        var trust = try ServerTrust(derEncodedChain: sent, host: host, cache: cache)
        trust.anchors = TrustAnchors(anchors)
        trust.time = time
        trust.requirements = requirements
        return trust
    }

    /// Returns the verdict of the evaluator.
    package func verdict(cache: ValidatedChainCache? = nil) -> Verdict {
        do {
            try evaluator.evaluate(try trust(cache: cache), forHost: host)
            return .trusted
        } catch let error as ServerTrustError {
            return .refused(error.reason)
        } catch {
            return .refused(.custom("an error of another type: \(error)"))
        }
    }
}
