import ServerTrust
import TrustForge
import X509

extension Subject {
    /// A stapled response.
    ///
    /// A response may pass if it contains the unchanged signed part (ResponseData) of a forged good response, with
    /// the certificate of the responder unless the issuer has signed. The rest of a response is not signed: the
    /// frame, and certificates that are not needed.
    static let response = Subject(name: "OCSP response", seeds: responses.map { $0.der() }) { bytes in
        let finding = judge(stapled: bytes)
        guard case .passed = finding else { return finding }
        let isGood = goodResponses.contains { good in
            good.certificates.map(\.der).allSatisfy(bytes.contains) && bytes.contains(good.body())
        }
        return isGood ? .passed : .forbidden("the signed part says good, and is none of ours")
    }

    /// A stapled response whose damage the responder has signed. It may pass.
    static let signedResponse = Subject(name: "OCSP response, signed again", seeds: responses.map { $0.body() }) {
        judge(stapled: ForgedResponse().signed($0))
    }

    /// A revocation list. Only the exact forged bytes may pass, because all of them are signed.
    static let list = Subject(name: "revocation list", seeds: goodLists) { bytes in
        let finding = judge(list: bytes)
        guard case .passed = finding, !goodLists.contains(bytes) else { return finding }
        return .forbidden("a list that was not forged so says good")
    }

    /// A revocation list whose damage the authority has signed. It may pass.
    static let signedList = Subject(name: "revocation list, signed again", seeds: lists.map { $0.body() }) {
        judge(list: ForgedList().signed($0))
    }

    /// A fetched list. Its entries are parsed only after the signature was verified. Only the exact forged bytes may
    /// pass.
    static let fetchedList = Subject(name: "fetched list", seeds: goodLists + [manyEntries.der()]) { bytes in
        let finding = judge(fetched: bytes)
        guard case .passed = finding, !goodLists.contains(bytes), bytes != manyEntries.der() else { return finding }
        return .forbidden("a fetched list that was not forged so says good")
    }

    /// A fetched list whose damage the authority has signed, so that its entries are parsed. It may pass.
    static let signedFetchedList = Subject(
        name: "fetched list, signed again",
        seeds: lists.map { $0.body() } + [manyEntries.body()]
    ) {
        judge(fetched: ForgedList().signed($0))
    }

    private static let manyEntries: ForgedList = {
        let others = [World.strangeLeaf, World.leaf, World.intermediate, World.rsaLeaf]
        let invalid = Certificate.Extension(
            oid: [2, 5, 29, 24],
            critical: false,
            value: Encoded.time(World.now)[...]
        )
        return ForgedList(
            entries: others.enumerated().map { index, other in
                let extensions = index == 3 ? [invalid] : []
                return ForgedList.Entry(certificate: other, reason: index == 0 ? nil : index, extensions: extensions)
            }
        )
    }()

    private static let goodResponses: [ForgedResponse] = {
        var delegated = ForgedResponse()
        delegated.delegate(to: RevocationWorld.delegate())
        var byKey = ForgedResponse()
        byKey.responder = .key
        byKey.digest = .sha256
        byKey.nonce = Array(repeating: 7, count: 32)
        return [ForgedResponse(), delegated, byKey]
    }()

    private static let responses: [ForgedResponse] = {
        var others = goodResponses
        for place in others.indices { others[place].revoke() }
        var unknown = ForgedResponse()
        unknown.statuses = [.unknown]
        var another = ForgedResponse()
        another.serialNumber = [9, 9]
        return goodResponses + others + [unknown, another, ForgedResponse(signer: World.strangeRoot)]
    }()

    private static let lists: [ForgedList] = {
        var others = ForgedList()
        others.revoke(World.strangeLeaf)
        var revoked = others
        revoked.revoke()
        var limited = ForgedList()
        limited.limit(Encoded.node(0x81, [0xff]))
        return [ForgedList(), others, revoked, limited, ForgedList(key: .p256("pretender"))]
    }()

    private static let goodLists = lists.map { $0.der() }

    private static func judge(stapled bytes: [UInt8]) -> Finding {
        judge(.ocsp) { $0.stapledOCSPResponse = bytes }
    }

    private static func judge(list bytes: [UInt8]) -> Finding {
        judge { () throws(RevocationProblem) in try RevocationList(derEncoded: bytes, name: "damaged") }
    }

    private static func judge(fetched bytes: [UInt8]) -> Finding {
        judge { () throws(RevocationProblem) in try RevocationList(bytes: bytes, name: "damaged") }
    }

    private static func judge(_ list: () throws(RevocationProblem) -> RevocationList) -> Finding {
        do {
            let checker = RevocationChecker(lists: [try list()])
            return judge(.crl) { $0.revocation = checker }
        } catch {
            return .refused(by: error)
        }
    }

    private static func judge(_ flags: RevocationFlags, _ change: (inout ServerTrust) -> Void) -> Finding {
        do {
            var trust = try Good.trust([RevocationWorld.plain.der])
            change(&trust)
            let evaluator = RevocationTrustEvaluator(options: flags.union(.requirePositiveResponse))
            try evaluator.evaluate(trust, forHost: World.host)
            return .passed
        } catch {
            guard case .revocationUnknown(_, let doubt) = error.reason, let first = doubt.obstacles.first else {
                return .refused(by: error.reason)
            }
            return .refused(by: first.problem)
        }
    }
}
