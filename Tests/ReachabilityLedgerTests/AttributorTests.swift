import ReachabilityLedger
import Testing

/// The rows of the table of ``Attributor``.
@Suite struct AttributorTests {
    private func state(_ path: Observation.Path, _ place: String? = nil, _ reason: String = "") -> String {
        let check = place.map { Observation.Check(place: $0, reason: reason) }
        return Attributor.state(of: Observation(path: path, check: check)).description
    }

    @Test func `row 1: a missing observation is unknown`() {
        #expect(state(.notObserved) == "unknown.notObserved")
        #expect(state(.suspended) == "unknown.suspended")
        #expect(state(.unknown(reason: "namespaceGone")) == "unknown.notObserved")
        #expect(state(.unknown(reason: "netlinkUnavailable")) == "unknown.denied")
        #expect(state(.unknown(reason: "resolving")) == "unknown.undecided")
    }

    @Test(arguments: ["noCarrier", "linkDown", "dormant", "noInterface", "discarded", "interfaceNotAllowed"])
    func `row 2: reasons of the link lead to us.link`(reason: String) {
        #expect(state(.notReachable(reason: reason)) == "us.link")
    }

    @Test func `row 3: a missing source address leads to us.address`() {
        #expect(state(.notReachable(reason: "noSourceAddress")) == "us.address")
    }

    @Test(arguments: ["noRoute", "unreachable"])
    func `row 4: reasons of the route lead to us.route`(reason: String) {
        #expect(state(.notReachable(reason: reason)) == "us.route")
    }

    @Test(arguments: ["prohibited", "blackholed", "refused"])
    func `row 5: reasons of rules and routes lead to us.policy`(reason: String) {
        #expect(state(.notReachable(reason: reason)) == "us.policy")
    }

    @Test func `row 5: a firewall of this machine leads to us.policy`() {
        #expect(state(.reachable, "thisMachine", "firewall") == "us.policy")
    }

    @Test func `row 6: unresolved names without a check lead to us.dns`() {
        #expect(state(.notReachable(reason: "nameNotResolved")) == "us.dns")
        #expect(state(.reachable, "dns", "noServerConfigured") == "us.dns")
        // A check distinguishes a failure of all names from a failure of this name.
        for path in [Observation.Path.notReachable(reason: "nameNotResolved"), .unknown(reason: "resolving")] {
            #expect(state(path, "dns", "serverSilent") == "upstream.dns")
            #expect(state(path, "dns", "nameNotFound") == "them.dns")
        }
        let stub = Observation.Check(place: "dns", reason: "serverClosed", isLocal: true)
        #expect(Attributor.state(of: Observation(path: .reachable, check: stub)).description == "us.dns")
        #expect(Attributor.reason(of: Observation(path: .notReachable(reason: "noRoute"), check: stub)) == "noRoute")
    }

    @Test(arguments: ["noRoute", "noSourceAddress", "prohibited", "linkDown", "firewall", "nameNotResolved"])
    func `row 6: name failures caused by this machine lead to us.dns`(reason: String) {
        #expect(state(.reachable, "dns", reason) == "us.dns")
        #expect(state(.notReachable(reason: "nameNotResolved"), "dns", reason) == "us.dns")
    }

    @Test func `row 7: a silent gateway leads to upstream.gateway`() {
        #expect(state(.reachable, "gateway", "neighbourFailed") == "upstream.gateway")
    }

    @Test func `row 8: a portal leads to upstream.portal`() {
        #expect(state(.reachable, "portal", "redirected") == "upstream.portal")
    }

    @Test func `row 9: faults of the provider lead to upstream`() {
        #expect(state(.reachable, "upstream", "noRouteBeyond") == "upstream.provider")
        #expect(state(.reachable, "dns", "serverSilent") == "upstream.dns")
        #expect(state(.reachable, "tls", "intercepted") == "upstream.interception")
    }

    @Test func `row 10: faults of the target lead to them`() {
        #expect(state(.reachable, "host", "silent") == "them.host")
        #expect(state(.reachable, "service", "refused") == "them.refused")
        #expect(state(.reachable, "service", "statusNotExpected") == "them.http")
        #expect(state(.reachable, "tls", "expired") == "them.tls")
        #expect(state(.reachable, "dns", "nameNotFound") == "them.dns")
    }

    @Test func `row 11: an undecided check leads to unknown.undecided`() {
        #expect(state(.reachable, "inconclusive", "notEnoughEvidence") == "unknown.undecided")
    }

    @Test func `a reachable target is up with and without a check`() {
        #expect(state(.reachable) == "up")
        #expect(state(.reachable, "works") == "up")
        #expect(state(.reachable, "degraded", "dns") == "up.degraded")
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

    @Test func `an unknown reason of the kernel is attributed to this machine`() {
        #expect(state(.notReachable(reason: "newInLinux9")) == "us.policy")
        #expect(state(.reachable, "newPlace", "") == "unknown.undecided")
    }
}
