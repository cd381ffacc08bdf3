import ReachabilityLedger
import Testing

/// The rows of the table of ``Attributor``.
@Suite struct AttributorTests {
    private static func state(_ path: Observation.Path, _ place: String?, _ reason: String) -> String {
        let check = place.map { Observation.Check(place: $0, reason: reason) }
        return Attributor.state(of: Observation(path: path, check: check)).description
    }

    /// The kernel's reasons, or reasons of checks at a place, that lead to a state.
    private static let rows: [(state: String, path: Observation.Path, place: String?, reasons: [String])] = [
        ("unknown.notObserved", .notObserved, nil, [""]), ("unknown.suspended", .suspended, nil, [""]),
        ("unknown.paused", .paused(reason: "disabled"), nil, [""]), ("them.push", .reachable, "push", ["noPush"]),
        ("us.policy", .reachable, "thisMachine", ["firewall"]),
        (
            "us.dns", .reachable, "dns",
            [
                "noServerConfigured", "noRoute", "noSourceAddress", "prohibited", "linkDown", "firewall",
                "nameNotResolved",
            ]
        ),
        ("upstream.gateway", .reachable, "gateway", ["neighbourFailed"]),
        ("upstream.portal", .reachable, "portal", ["redirected"]),
        ("upstream.provider", .reachable, "upstream", ["noRouteBeyond"]),
        ("upstream.dns", .reachable, "dns", ["serverSilent"]),
        ("upstream.interception", .reachable, "tls", ["intercepted"]), ("them.host", .reachable, "host", ["silent"]),
        ("them.refused", .reachable, "service", ["refused"]),
        ("them.http", .reachable, "service", ["statusNotExpected"]), ("them.tls", .reachable, "tls", ["expired"]),
        ("them.dns", .reachable, "dns", ["nameNotFound", "recordNotExpected"]),
        ("unknown.undecided", .reachable, "inconclusive", ["notEnoughEvidence"]),
        // A new place of a later version.
        ("unknown.undecided", .reachable, "newPlace", [""]), ("up", .reachable, nil, [""]),
        ("up", .reachable, "works", [""]), ("up.degraded", .reachable, "degraded", ["dns"]),
    ]

    @Test(arguments: rows.indices) func `each row of the table leads to its state`(index: Int) {
        let row = Self.rows[index]
        for reason in row.reasons { #expect(Self.state(row.path, row.place, reason) == row.state, "\(reason)") }
    }

    @Test(arguments: [
        ("us.link", ["noCarrier", "linkDown", "dormant", "noInterface", "discarded", "interfaceNotAllowed"]),
        ("us.address", ["noSourceAddress"]), ("us.route", ["noRoute", "unreachable"]),
        // An unknown reason of the kernel is attributed to this machine.
        ("us.policy", ["prohibited", "blackholed", "refused", "newInLinux9"]), ("us.dns", ["nameNotResolved"]),
    ])
    func `each reason of the kernel leads to its state`(state: String, reasons: [String]) {
        for reason in reasons { #expect(Self.state(.notReachable(reason: reason), nil, "") == state, "\(reason)") }
    }

    @Test(arguments: [
        ("namespaceGone", "unknown.notObserved"), ("netlinkUnavailable", "unknown.denied"),
        ("resolving", "unknown.undecided"),
    ])
    func `a path that the kernel does not know is unknown`(reason: String, state: String) {
        #expect(Self.state(.unknown(reason: reason), nil, "") == state)
    }

    @Test func `a check distinguishes a failure of all names from a failure of this name`() {
        for path in [Observation.Path.notReachable(reason: "nameNotResolved"), .unknown(reason: "resolving")] {
            #expect(Self.state(path, "dns", "serverSilent") == "upstream.dns")
            #expect(Self.state(path, "dns", "nameNotFound") == "them.dns")
            for reason in ["noRoute", "noSourceAddress", "prohibited", "linkDown", "firewall", "nameNotResolved"] {
                #expect(Self.state(path, "dns", reason) == "us.dns", "\(reason)")
            }
        }
        let stub = Observation.Check(place: "dns", reason: "serverClosed", isLocal: true)
        #expect(Attributor.state(of: Observation(path: .reachable, check: stub)).description == "us.dns")
        #expect(Attributor.reason(of: Observation(path: .notReachable(reason: "noRoute"), check: stub)) == "noRoute")
        for reason in ["serverFailed", "serverRefused", "serverSilent"] {
            let target = Observation.Check(place: "dns", reason: reason, isTarget: true)
            #expect(Attributor.state(of: Observation(path: .reachable, check: target)).description == "them.dns")
        }
    }

    @Test func `a state has the account and the basis of its evidence`() {
        let degraded = Observation(path: .reachable, check: .init(place: "degraded", reason: "slow"))
        #expect(Attributor.state(of: degraded).account == .up && Attributor.state(of: degraded).isDegraded)
        #expect(Attributor.reason(of: degraded) == "slow")
        #expect(TargetState(.up, .link).cause == nil && !TargetState(.us, .degraded).isDegraded)
        #expect(Attributor.state(of: Observation(path: .reachable)).basis == .path)
        let checked = Observation(path: .reachable, check: .init(place: "works", reason: "answered"))
        #expect(Attributor.state(of: checked).basis == .checks)
        #expect(Attributor.reason(of: checked) == nil)
    }

    @Test func `the kernel's evidence about this machine has priority over a check`() {
        let observation = Observation(
            path: .notReachable(reason: "noCarrier"),
            check: .init(place: "host", reason: "silent")
        )
        #expect(Attributor.state(of: observation).description == "us.link")
        #expect(Attributor.reason(of: observation) == "noCarrier")
    }
}
