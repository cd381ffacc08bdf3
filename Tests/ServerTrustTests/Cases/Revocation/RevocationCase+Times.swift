import ServerTrust
import TrustForge

extension RevocationCase {
    private static func now(_ seconds: Int64) -> TrustTime { World.now.advanced(by: .seconds(seconds)) }

    private static let age = "RFC 5280, 5.3.1: a revocation is permanent"

    static let times: [RevocationCase] = [
        stapling("expired", .expired(now(-1800))) { $0.nextUpdate = .seconds(-1800) },
        stapling("expired within the clock tolerance") { $0.nextUpdate = .seconds(-200) },
        stapling("not yet valid", .notYetValid(now(1800))) {
            $0.thisUpdate = .seconds(1800)
            $0.producedAt = .seconds(0)
        },
        stapling("not yet valid within the clock tolerance") {
            $0.thisUpdate = .seconds(200)
            $0.producedAt = .seconds(200)
        },
        stapling(
            "produced in the future",
            .notYetValid(now(1800)),
            openSSL: .differs("RFC 6960, 2.4: OpenSSL ignores producedAt")
        ) { $0.producedAt = .seconds(1800) },
        stapling("without nextUpdate, new") {
            $0.thisUpdate = .seconds(-60)
            $0.nextUpdate = nil
        },
        stapling(
            "without nextUpdate, old",
            .tooOld(now(-7200)),
            openSSL: .differs("OpenSSL limits the age only with -status_age")
        ) {
            $0.thisUpdate = .seconds(-7200)
            $0.nextUpdate = nil
        },
        revoking("revoked, without nextUpdate, new") {
            $0.thisUpdate = .seconds(-60)
            $0.nextUpdate = nil
        },
        revoking("revoked, without nextUpdate, old") {
            $0.thisUpdate = .seconds(-7200)
            $0.nextUpdate = nil
        },
        revoking("revoked, expired", openSSL: .differs(age)) { $0.nextUpdate = .seconds(-1800) },
        revoking("revoked, not yet valid", openSSL: .differs(age)) { $0.thisUpdate = .seconds(1800) },
        RevocationCase("on hold, expired") {
            var response = ForgedResponse.revoked(reason: 6)
            response.nextUpdate = .seconds(-1800)
            $0.stapled = response
            $0.openSSL = .agrees
            $0.refuse(RevocationObstacle(.expired(now(-1800)), from: .stapledResponse))
        },
        stapling("unknown to the responder, expired", .expired(now(-1800))) {
            $0.statuses = [.unknown]
            $0.nextUpdate = .seconds(-1800)
        },
        RevocationCase("expired, soft") {
            $0.stapled = ForgedResponse(nextUpdate: .seconds(-1800))
            $0.flags = .any
        },
        RevocationCase("revoked, without nextUpdate, soft") {
            var response = ForgedResponse.revoked()
            response.nextUpdate = nil
            $0.stapled = response
            $0.flags = .any
            $0.revoked(from: .stapledResponse)
        },
    ]
}
