import ServerTrust
import TrustForge

private typealias World = AlamofireWorld

extension AlamofireRow {
    /// Returns the rows for pinned certificates with a validated chain. Alamofire's tests set no anchors here.
    ///
    /// - Parameters:
    ///   - accepted: Creates the evaluations that are expected to trust.
    ///   - refused: Creates the evaluations that are expected to refuse: certificates that are not on the chain or have
    ///     expired.
    ///   - pinsAreAnchors: Whether the pinned certificates are anchors in the refused evaluations.
    static func certificates(
        _ title: String,
        accepted: (_ pinned: [Forged]) -> Judge,
        refused: (_ pinned: [Forged]) -> Judge,
        pinsAreAnchors: Bool
    ) -> [AlamofireRow] {
        let good = [World.validName, World.signing2, World.root]
        let expired = [World.expired, World.signing2, World.root]
        let failure = pinsAreAnchors ? TrustFailure.hasExpired(World.expired) : .alamofireRootIsUntrusted
        return [
            unanchored("\(title): the server's", good, accepted([World.validName])),
            unanchored("\(title): the intermediate", good, accepted([World.signing2])),
            unanchored("\(title): the root", good, accepted([World.root])),
            unanchored("\(title): another server's", good, refused([World.signedBy2]), .alamofireRootIsUntrusted),
            unanchored("\(title): another intermediate", good, refused([World.signing1]), .alamofireRootIsUntrusted),
            unanchored("\(title): the server's, expired", expired, refused([World.expired]), failure),
            unanchored(
                "\(title): the intermediate, the server's has expired",
                expired,
                refused([World.signing2]),
                failure
            ),
        ]
    }

    /// Returns the rows for pinned certificates without validation of the chain or host.
    ///
    /// - Parameter notPinned: The expected reason if no pinned certificate is on the chain.
    static func unvalidatedCertificates(
        _ title: String,
        notPinned: TrustFailure = .isNotPinned(World.validName),
        _ judge: (_ pinned: [Forged]) -> Judge
    ) -> [AlamofireRow] {
        let good = [World.validName, World.signing2, World.root]
        let expired = [World.expired, World.signing2, World.root]
        let many = [World.multipleNames, World.signedBy1, World.expired, World.wildcard, World.nameAndURI]
        return [
            unanchored("\(title): the server's", good, judge([World.validName])),
            unanchored("\(title): the intermediate", good, judge([World.signing2])),
            unanchored("\(title): the root", good, judge([World.root])),
            unanchored("\(title): another server's", good, judge([World.signedBy2]), notPinned),
            unanchored("\(title): another intermediate", good, judge([World.signing1]), notPinned),
            unanchored("\(title): the server's, expired", expired, judge([World.expired])),
            unanchored("\(title): the intermediate, the server's has expired", expired, judge([World.signing2])),
            unanchored("\(title): the root, the server's has expired", expired, judge([World.root])),
            unanchored("\(title): one of several", expired, judge(many)),
        ]
    }

    static func unanchored(
        _ name: String,
        _ sent: [Forged],
        _ judge: Judge,
        _ failure: TrustFailure? = nil
    ) -> AlamofireRow {
        AlamofireRow(name, sent, judge) {
            $0.onSystem()
            if let failure { $0.refuse(failure) }
        }
    }
}
