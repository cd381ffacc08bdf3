import ServerTrust
import TrustForge

extension RevocationCase {
    private static let responder = RevocationWorld.responder
    private static let place = RevocationWorld.list
    private static let noAnswer = RevocationObstacle(
        .unreachable("no server is at \(responder)"),
        from: .responder(url: responder)
    )
    private static let noList = RevocationObstacle(.unreachable("no server is at \(place)"), from: .list(place))

    static let flagsAndOrder: [RevocationCase] = [
        both("the responder is queried first") {
            $0.answer(responder, ForgedResponse())
            $0.answer(place, ForgedList())
            $0.asked = [responder]
        },
        both("preferCRL: the list is fetched first") {
            $0.answer(responder, ForgedResponse())
            $0.answer(place, ForgedList())
            $0.flags.insert(.preferCRL)
            $0.asked = [place]
        },
        both("no responder: the list is fetched") {
            $0.answer(place, ForgedList())
            $0.asked = [responder, place]
        },
        both("preferCRL, no list: the responder is queried") {
            $0.answer(responder, ForgedResponse())
            $0.flags.insert(.preferCRL)
            $0.asked = [place, responder]
        },
        both("no source answers") { $0.refuse(noAnswer, noList) },
        both("no source answers, soft") { $0.flags = .any },
        both("only ocsp: no list is fetched") {
            $0.answer(place, ForgedList())
            $0.flags = [.ocsp, .requirePositiveResponse]
            $0.asked = [responder]
            $0.refuse(noAnswer)
        },
        both("only crl: no responder is queried") {
            $0.answer(responder, ForgedResponse())
            $0.flags = [.crl, .requirePositiveResponse]
            $0.asked = [place]
            $0.refuse(noList)
        },
        both("only crl: a stapled response does not count") {
            $0.stapled = ForgedResponse()
            $0.flags = [.crl, .requirePositiveResponse]
            $0.refuse(noList)
        },
        both("neither ocsp nor crl: both") {
            $0.answer(place, ForgedList())
            $0.flags = .requirePositiveResponse
            $0.asked = [responder, place]
        },
        both("preferCRL: the list is fetched despite a good stapled response") {
            $0.stapled = ForgedResponse()
            $0.answer(place, ForgedList())
            $0.flags.insert(.preferCRL)
            $0.asked = [place]
        },
        both("a good stapled response, but an available list reports revoked") {
            $0.stapled = ForgedResponse()
            $0.list = .revoking()
            $0.asked = []
            $0.revoked(from: .list("given"))
        },
        both("a good list, but the stapled response reports revoked") {
            $0.stapled = .revoked()
            $0.list = ForgedList()
            $0.flags.insert(.preferCRL)
            $0.asked = []
            $0.revoked(from: .stapledResponse)
        },
        both("networkAccessDisabled") {
            $0.answer(responder, ForgedResponse())
            $0.flags.insert(.networkAccessDisabled)
            $0.asked = []
            $0.refuse(RevocationObstacle(.networkAccessDisabled))
        },
        both("networkAccessDisabled, soft") {
            $0.flags = [.any, .networkAccessDisabled]
            $0.asked = []
        },
        both("networkAccessDisabled, a good stapled response") {
            $0.stapled = ForgedResponse()
            $0.flags.insert(.networkAccessDisabled)
        },
        both("networkAccessDisabled, an expired stapled response") {
            $0.stapled = ForgedResponse(nextUpdate: .seconds(-1800))
            $0.flags.insert(.networkAccessDisabled)
            $0.refuse(
                RevocationObstacle(.expired(World.now.advanced(by: .seconds(-1800))), from: .stapledResponse),
                RevocationObstacle(.networkAccessDisabled)
            )
        },
        both("networkAccessDisabled, a good available list") {
            $0.list = ForgedList()
            $0.flags.insert(.networkAccessDisabled)
        },
        both("no fetcher") {
            $0.hasFetcher = false
            $0.refuse(RevocationObstacle(.noFetcher))
        },
        both("immediate: others would have to be queried") {
            $0.answer(responder, ForgedResponse())
            $0.waits = false
            $0.asked = []
            $0.refuse(RevocationObstacle(.wouldWait))
        },
        both("immediate, soft") {
            $0.waits = false
            $0.flags = .any
            $0.asked = []
        },
        both("immediate: a good stapled response") {
            $0.stapled = ForgedResponse()
            $0.waits = false
        },
        both("immediate: a good available list") {
            $0.list = ForgedList()
            $0.waits = false
        },
        both("immediate: an available list reports revoked, soft") {
            $0.list = .revoking()
            $0.waits = false
            $0.flags = .any
            $0.revoked(from: .list("given"))
        },
    ]

    /// A certificate that names a responder and a list.
    private static func both(_ name: String, _ change: (inout RevocationCase) -> Void) -> RevocationCase {
        RevocationCase(name) {
            $0.chain = [RevocationWorld.withBoth]
            change(&$0)
        }
    }
}
