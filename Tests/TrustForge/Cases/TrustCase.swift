package import ServerTrust

/// One server, and what is to come of it.
package struct TrustCase: Sendable {
    package enum Verdict: Hashable, Sendable {
        case trusted
        case refused(TrustFailure)
    }

    /// How `openssl verify` stands to ours.
    package enum OpenSSL: Sendable {
        /// It says the same.
        case agrees
        /// It says otherwise, and this is why ours is right.
        case differs(String)
        /// It cannot be asked.
        case cannotSay
    }

    package let name: String
    package var sent: [[UInt8]] = [World.leaf.der, World.intermediate.der]
    /// Of the first of them: what a server needs to shake hands with it.
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

    /// A server's certificate that the shared intermediate signed.
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

    /// A server's certificate below an authority that the shared root signed.
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

    /// A server's certificate below a root, which is the only anchor.
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

    /// The certificates, the server's own first.
    package mutating func send(_ certificates: Forged...) {
        send(certificates)
    }

    /// The certificates, the server's own first.
    package mutating func send(_ certificates: [Forged]) {
        sent = certificates.map(\.der)
        if let first = certificates.first { key = first.key }
    }

    /// The only anchors.
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

    /// What our evaluator says.
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
