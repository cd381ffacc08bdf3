import ServerTrust
import TrustForge

private typealias World = AlamofireWorld

extension AlamofireRow {
    /// Returns the rows for evaluations without pins: the default evaluation and the evaluation of revocation, in
    /// Alamofire 4, Alamofire 5 and AFNetworking.
    ///
    /// - Parameter judge: Creates the evaluation with or without validation of the host.
    static func standard(_ title: String, _ judge: (_ validateHost: Bool) -> Judge) -> [AlamofireRow] {
        [false, true].flatMap { validateHost in
            let judge = judge(validateHost)
            let title = title + (validateHost ? ", host" : "")
            return [
                AlamofireRow("\(title): good", [World.validName, World.signing2, World.root], judge),
                AlamofireRow("\(title): the root is not trusted", [World.validName, World.signing2], judge) {
                    $0.onSystem()
                    $0.refuse(.lacksIssuer(World.signing2))
                },
                AlamofireRow("\(title): no names", [World.noNames, World.signing2, World.root], judge) {
                    if validateHost { $0.refuse(.hasNoNames(World.noNames)) }
                },
                AlamofireRow("\(title): expired", [World.expired, World.signing2, World.root], judge) {
                    $0.refuse(.hasExpired(World.expired))
                },
                AlamofireRow("\(title): the intermediate is missing", [World.validName, World.root], judge) {
                    $0.refuse(.lacksIssuer(World.validName))
                },
            ]
                + (validateHost
                    ? [AlamofireRow("\(title): a wildcard", [World.wildcard, World.signing1, World.root], judge)] : [])
        }
    }

    /// Returns the rows for pinned keys.
    ///
    /// - Parameter judge: Creates an evaluation that pins the keys of the certificates, with or without validation of
    /// chain and host.
    static func keys(
        _ title: String,
        _ judge: (_ pinned: [Forged], _ validateChain: Bool, _ validateHost: Bool) -> Judge
    ) -> [AlamofireRow] {
        let good = [World.validName, World.signing2, World.root]
        let validated = [false, true].flatMap { validateHost in
            let title = title + (validateHost ? ", host" : "")
            return [
                AlamofireRow("\(title): the server's", good, judge([World.validName], true, validateHost)),
                AlamofireRow("\(title): the intermediate's", good, judge([World.signing2], true, validateHost)),
                AlamofireRow("\(title): the root's", good, judge([World.root], true, validateHost)),
                AlamofireRow("\(title): not on the chain", good, judge([World.signedBy2], true, validateHost)) {
                    $0.refuse(.isNotPinned(World.validName))
                },
                AlamofireRow(
                    "\(title): a backup",
                    good,
                    judge([World.signedBy1, World.signing1, World.validName], true, validateHost)
                ),
            ]
        }
        return validated + unvalidatedKeys("\(title), no chain") { judge($0, false, false) }
    }

    private static func unvalidatedKeys(_ title: String, _ judge: (_ pinned: [Forged]) -> Judge) -> [AlamofireRow] {
        let missing = [World.validName, World.root]
        let incorrect = [World.validName, World.signing1, World.root]
        let expired = [World.expired, World.signing2, World.root]
        return [
            AlamofireRow("\(title): the server's, the intermediate is missing", missing, judge([World.validName])),
            AlamofireRow("\(title): the root's, the intermediate is missing", missing, judge([World.root])) {
                $0.refuse(.isNotPinned(World.validName))
            },
            AlamofireRow("\(title): the server's, the intermediate is another", incorrect, judge([World.validName])),
            AlamofireRow("\(title): the server's, expired", expired, judge([World.expired])),
            AlamofireRow("\(title): the intermediate's, the server's has expired", expired, judge([World.signing2])),
            AlamofireRow("\(title): the root's, the server's has expired", expired, judge([World.root])),
        ]
    }
}
