import ServerTrust
import Testing

/// One server, and what is to come of it.
struct TrustCase: Sendable {
    enum Verdict: Hashable, Sendable {
        case trusted
        case refused(TrustFailure)
    }

    /// How `openssl verify` stands to ours.
    enum OpenSSL: Sendable {
        /// It says the same.
        case agrees
        /// It says otherwise, and this is why ours is right.
        case differs(String)
        /// It cannot be asked.
        case cannotSay
    }

    let name: String
    var sent: [[UInt8]] = [World.leaf.der, World.intermediate.der]
    var anchors: [TrustCertificate] = [World.root.certificate]
    var host = World.host
    var time = World.now
    var requirements = TrustRequirements()
    var evaluator: any ServerTrustEvaluating = DefaultTrustEvaluator()
    var expected: Verdict = .trusted
    var openSSL = OpenSSL.agrees

    init(_ name: String, _ change: (inout TrustCase) -> Void) {
        self.name = name
        change(&self)
    }

    /// The certificates, the server's own first.
    mutating func send(_ certificates: Forged...) {
        sent = certificates.map(\.der)
    }

    /// The only anchors.
    mutating func trust(_ certificates: Forged...) {
        anchors = certificates.map(\.certificate)
    }

    mutating func refuse(_ failure: TrustFailure) {
        expected = .refused(failure)
    }

    func trust(cache: ValidatedChainCache? = nil) throws -> ServerTrust {
        var trust = try ServerTrust(derEncodedChain: sent, host: host, cache: cache)
        trust.anchors = TrustAnchors(anchors)
        trust.time = time
        trust.requirements = requirements
        return trust
    }

    /// What our evaluator says.
    func verdict(cache: ValidatedChainCache? = nil) -> Verdict {
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

extension TrustCase: CustomTestStringConvertible {
    var testDescription: String { name }
}
