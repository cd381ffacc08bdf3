import ServerTrust

extension TrustCase {
    private static let past = TrustTime(year: 2026, month: 3, day: 1)
    private static let future = TrustTime(year: 2026, month: 9, day: 1)

    static let times: [TrustCase] = [
        TrustCase("expired") {
            $0.send(World.leaf { $0.ends = past }, World.intermediate)
            $0.refuse(.expired(subject: World.host, notAfter: past))
        },
        TrustCase("not yet valid") {
            $0.send(World.leaf { $0.begins = future }, World.intermediate)
            $0.refuse(.notYetValid(subject: World.host, notBefore: future))
        },
        TrustCase("expired intermediate") {
            let middle = Blueprint.authority("Late").with(\.ends, past).signed(by: World.root)
            $0.send(Blueprint.leaf().signed(by: middle), middle)
            $0.refuse(.expired(subject: "Late", notAfter: past))
        },
        TrustCase("intermediate not yet valid") {
            let middle = Blueprint.authority("Early").with(\.begins, future).signed(by: World.root)
            $0.send(Blueprint.leaf().signed(by: middle), middle)
            $0.refuse(.notYetValid(subject: "Early", notBefore: future))
        },
        TrustCase("expired root") {
            let root = Blueprint.authority("Late Root").with(\.ends, past).signed()
            $0.send(Blueprint.leaf().signed(by: root))
            $0.trust(root)
            $0.refuse(.expired(subject: "Late Root", notAfter: past))
        },
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
        TrustCase("ends before it begins") {
            $0.send(World.leaf { ($0.begins, $0.ends) = (future, past) }, World.intermediate)
            $0.refuse(.expired(subject: World.host, notAfter: past))
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
