import ServerTrust

extension TrustCase {
    private static let past = TrustTime(year: 2026, month: 3, day: 1)
    private static let future = TrustTime(year: 2026, month: 9, day: 1)

    static let times: [TrustCase] = [
        leaf("expired", .expired(subject: World.host, notAfter: past)) { $0.ends = past },
        leaf("not yet valid", .notYetValid(subject: World.host, notBefore: future)) { $0.begins = future },
        below(
            .authority("Late").with(\.ends, past),
            "expired intermediate",
            .expired(subject: "Late", notAfter: past)
        ),
        below(
            .authority("Early").with(\.begins, future),
            "intermediate not yet valid",
            .notYetValid(subject: "Early", notBefore: future)
        ),
        below(
            root: .authority("Late Root").with(\.ends, past),
            "expired root",
            .expired(subject: "Late Root", notAfter: past)
        ),
        TrustCase("the last second") {
            $0.time = World.ends
            $0.openSSL = .differs("RFC 5280, 4.1.2.5: the last second counts")
        },
        TrustCase("a second after the last") {
            $0.time = World.ends.advanced(by: .seconds(1))
            $0.refuse(.expired(subject: World.host, notAfter: World.ends))
        },
        TrustCase("the first second") { $0.time = World.begins },
        TrustCase("a second before the first") {
            $0.time = World.begins.advanced(by: .seconds(-1))
            $0.refuse(.notYetValid(subject: World.host, notBefore: World.begins))
        },
        leaf("ends before it begins", .expired(subject: World.host, notAfter: past)) {
            ($0.begins, $0.ends) = (future, past)
        },
        TrustCase("ends after 2050, in GeneralizedTime") {
            let root = Blueprint.authority("Lasting").with(\.ends, TrustTime(year: 2060, month: 1, day: 1)).signed()
            $0.send(Blueprint.leaf().with(\.ends, TrustTime(year: 2055, month: 1, day: 1)).signed(by: root))
            $0.trust(root)
            $0.time = TrustTime(year: 2054, month: 12, day: 31)
        },
        TrustCase("expired anchor that is the server's certificate") {
            let own = Blueprint.leaf("selfish").with(\.ends, past).signed()
            $0.send(own)
            $0.trust(own)
            $0.refuse(.expired(subject: "selfish", notAfter: past))
        },
    ]
}
