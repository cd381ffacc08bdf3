import ReachabilityLedger
import Testing

/// The table of attributions, row by row.
@Suite struct AttributorTests {
    private func state(_ path: Observation.Path, _ place: String? = nil, _ reason: String = "") -> String {
        let check = place.map { Observation.Check(place: $0, reason: reason) }
        return Attributor.state(of: Observation(path: path, check: check)).description
    }

    @Test func `row 1: nobody observed`() {
        #expect(state(.notObserved) == "unknown.notObserved")
        #expect(state(.suspended) == "unknown.suspended")
        #expect(state(.unknown(reason: "namespaceGone")) == "unknown.notObserved")
        #expect(state(.unknown(reason: "netlinkUnavailable")) == "unknown.denied")
        #expect(state(.unknown(reason: "resolving")) == "unknown.undecided")
    }

    @Test(arguments: ["noCarrier", "linkDown", "dormant", "noInterface", "discarded", "interfaceNotAllowed"])
    func `row 2: the link`(reason: String) { #expect(state(.notReachable(reason: reason)) == "us.link") }

    @Test func `row 3: the address`() { #expect(state(.notReachable(reason: "noSourceAddress")) == "us.address") }

    @Test(arguments: ["noRoute", "unreachable"])
    func `row 4: the route`(reason: String) { #expect(state(.notReachable(reason: reason)) == "us.route") }

    @Test(arguments: ["prohibited", "blackholed", "refused"])
    func `row 5: the policy`(reason: String) { #expect(state(.notReachable(reason: reason)) == "us.policy") }

    @Test func `row 5: a firewall of this machine`() {
        #expect(state(.reachable, "thisMachine", "firewall") == "us.policy")
    }

    @Test func `row 6: names`() {
        #expect(state(.notReachable(reason: "nameNotResolved")) == "us.dns")
        #expect(state(.reachable, "dns", "noServerConfigured") == "us.dns")
        // A check tells whether it is all names, or this one.
        for path in [Observation.Path.notReachable(reason: "nameNotResolved"), .unknown(reason: "resolving")] {
            #expect(state(path, "dns", "serverSilent") == "upstream.dns")
            #expect(state(path, "dns", "nameNotFound") == "them.dns")
        }
        let stub = Observation.Check(place: "dns", reason: "serverClosed", isLocal: true)
        #expect(Attributor.state(of: Observation(path: .reachable, check: stub)).description == "us.dns")
        #expect(Attributor.reason(of: Observation(path: .notReachable(reason: "noRoute"), check: stub)) == "noRoute")
    }

    @Test(arguments: ["noRoute", "noSourceAddress", "prohibited", "linkDown", "firewall", "nameNotResolved"])
    func `row 6: names that this machine itself keeps from being asked`(reason: String) {
        #expect(state(.reachable, "dns", reason) == "us.dns")
        #expect(state(.notReachable(reason: "nameNotResolved"), "dns", reason) == "us.dns")
    }

    @Test func `row 7: the gateway`() { #expect(state(.reachable, "gateway", "neighbourFailed") == "upstream.gateway") }

    @Test func `row 8: a portal`() { #expect(state(.reachable, "portal", "redirected") == "upstream.portal") }

    @Test func `row 9: the provider, and its DNS`() {
        #expect(state(.reachable, "upstream", "noRouteBeyond") == "upstream.provider")
        #expect(state(.reachable, "dns", "serverSilent") == "upstream.dns")
        #expect(state(.reachable, "tls", "intercepted") == "upstream.interception")
    }

    @Test func `row 10: the target`() {
        #expect(state(.reachable, "host", "silent") == "them.host")
        #expect(state(.reachable, "service", "refused") == "them.refused")
        #expect(state(.reachable, "service", "statusNotExpected") == "them.http")
        #expect(state(.reachable, "tls", "expired") == "them.tls")
        #expect(state(.reachable, "dns", "nameNotFound") == "them.dns")
    }

    @Test func `row 11: undecided`() {
        #expect(state(.reachable, "inconclusive", "notEnoughEvidence") == "unknown.undecided")
    }

    @Test func `up, by the kernel alone and by a check`() {
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

    @Test func `what the kernel says of this machine comes before what a check says of others`() {
        let observation = Observation(
            path: .notReachable(reason: "noCarrier"),
            check: .init(place: "host", reason: "silent")
        )
        #expect(Attributor.state(of: observation).description == "us.link")
        #expect(Attributor.reason(of: observation) == "noCarrier")
    }

    @Test func `a reason nobody has heard of is this machine's all the same`() {
        #expect(state(.notReachable(reason: "newInLinux9")) == "us.policy")
        #expect(state(.reachable, "newPlace", "") == "unknown.undecided")
    }
}
