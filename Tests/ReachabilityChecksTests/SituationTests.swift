import Glibc
import NetworkReachability
import Testing

@testable import ReachabilityChecks

/// The situations that a check must recognise, each with its evidence.
struct SituationTests {
    struct Row: Sendable, CustomStringConvertible {
        let number: Int
        let description: String
        let place: CheckPlace
        let reason: ProbeReason
        let situation: Situation
    }

    static let web = CheckTarget("https://www.example.org", name: "www.example.org", decisive: .http)
    static let port = CheckTarget("203.0.113.7:80", decisive: .tcp)

    static let ssh = CheckTarget("ssh://203.0.113.7", decisive: .ssh)
    static let time = CheckTarget("ntp://203.0.113.7", decisive: .ntp)

    private static let none = Situation()
    private static let dead = none.hop(.silent).server(.silent).anchor(.silent)
    private static let alive = none.gateway(.answered)

    static let kernel: [Row] = [
        none.allWell.row(1, "everything works", .works, .internetProven),
        Situation(reason: .noRoute).row(2, "no route", .thisMachine, .noRoute),
        Situation(reason: .noCarrier).row(3, "cable disconnected", .link, ProbeReason(rawValue: "noCarrier")),
        Situation(reason: .noInterface).row(3, "interface or VRF deleted", .link, ProbeReason(rawValue: "noInterface")),
        Situation(reason: .discarded)
            .row(3, "the interface discards packets", .link, ProbeReason(rawValue: "discarded")),
        dead.gateway(.blockedHere(1)).row(4, "the packet filter drops everything", .thisMachine, .firewall),
        none.gateway(Situation.error(3, 13, .thisMachine)).anchor(.silent)
            .row(5, "the packet filter rejects everything", .thisMachine, .firewall),
        alive.hop().server(.blockedHere(1)).anchor(.blockedHere(1), "a.example", .echo).anchor(.silent)
            .row(4, "the packet filter drops all packets beyond the routers", .thisMachine, .firewall),
        alive.hop().server().anchor(.silent).anchor(.answered, "a.example", .echo)
            .row(6, "the packet filter drops TCP", .thisMachine, .tcpFiltered),
        alive.hop().handshake(.anchor("a"), .notYetValid).handshake(.anchor("b"), .notYetValid)
            .row(7, "wrong clock, by certificates", .thisMachine, .clockWrong),
        alive.echoed(offset: .seconds(200_000)).row(7, "wrong clock, by Date", .thisMachine, .clockWrong),
        none.gateway(
            .answered,
            NeighbourFacts(before: .reachable, after: .reachable, age: .seconds(1), isContested: true)
        )
        .row(8, "address conflict", .link, .addressConflict),
        Situation(reason: .noSourceAddress).changed { $0.evidence.duplicates = [Situation.host] }
            .row(8, "this machine's only address is a duplicate", .link, .addressConflict),
        dead.gateway(.answered).changed {
            $0.evidence.duplicates = [Situation.host]
            $0.evidence.path.source = Situation.address("fe80::2")
        }
        .row(8, "this machine's address is a duplicate, and packets use the link-local one", .link, .addressConflict),
        none.allWell.changed {
            $0.evidence.duplicates = [Situation.host]
        }
        .row(8, "one of this machine's addresses is a duplicate", .works, .internetProven),
    ]

    static let line: [Row] = [
        dead.gateway(.silent, NeighbourFacts(before: .none, after: .failed, age: .milliseconds(3100)))
            .row(9, "gateway dead", .gateway, .neighbourFailed),
        dead.gateway(
            .silent,
            NeighbourFacts(before: .reachable, after: .reachable, age: .seconds(3), confirmedAge: .seconds(9))
        )
        .row(10, "gateway dead, neighbour entry still reachable", .gateway, .silent),
        dead.row(10, "silence, and the gateway was not probed", .inconclusive, .notEnoughEvidence),
        dead.gateway(.skipped(.notNeeded)).gateway(.skipped(.notPermitted))
            .row(10, "silence, and probes of the gateway were not permitted", .inconclusive, .notEnoughEvidence),
        dead.gateway(.blockedHere(EACCES))
            .row(
                10,
                "silence, and a rule of this machine refuses probes of the gateway",
                .inconclusive,
                .notEnoughEvidence
            ),
        dead.server(Situation.error(3, 0, .gateway))
            .row(13, "gateway not probed, and its errors arrive", .upstream, .noRoute),
        none.hop(.silent).anchor(.silent).over(.ipv6).verified()
            .row(48, "the gateway of a silent family was not probed", .degraded, .ipv4Broken),
        dead.over(.ipv6).hop().anchor(.silent)
            .row(
                17,
                "the gateway of one family was not probed, the provider drops the other",
                .upstream,
                .silentBeyond
            ),
        none.gateway(.silent).hop().verified().row(11, "the gateway answers no echo", .works, .internetProven),
        none.gateway(.silent).hop(.silent).verified().row(12, "gateway without ICMP", .works, .internetProven),
        dead.gateway(.answered).row(13, "the gateway forwards nothing", .upstream, .silentBeyond),
        alive.anchor(Situation.error(3, 13, .gateway)).row(14, "the gateway prohibits", .upstream, .prohibited),
        alive.anchor(Situation.error(3, 0, .gateway)).row(15, "the gateway has no route", .upstream, .noRoute),
        alive.anchor(Situation.error(3, 1, .unknown, Situation.address("10.9.0.1")))
            .row(16, "cable of the gateway disconnected", .upstream, .hostUnreachable),
        alive.hop().server(.silent).anchor(.silent).row(17, "the provider drops everything", .upstream, .silentBeyond),
        alive.hop().server(.silent).over(.ipv6).gateway(.answered).hop()
            .row(
                17,
                "the provider drops both families, and DNS servers have addresses of one",
                .upstream,
                .silentBeyond
            ),
        alive.hop().server(.silent).anchor(.silent).anchor(.answered, "a.example", .echo)
            .row(18, "only echoes pass", .upstream, .filtered),
        Situation(gateway: nil).hop(.silent).server(.silent).anchor(.silent)
            .row(19, "no data session", .upstream, .silentBeyond),
        alive.hop().verified().anchor(.silent, "a.example", .http).row(20, "port 80 blocked", .works, .internetProven),
        alive.hop().server().adding(.tls, .anchor("a"), .silent) { $0.phases[.connect] = .zero }
            .adding(.mtu, .anchor("a"), .answered)
            .row(21, "path MTU black hole", .upstream, .pathMTU),
    ]

    static let portals: [Row] = [
        alive.hop().page(.anchor("a"), 302, location: "http://p/").page(.unassigned, 302)
            .row(22, "portal", .portal, .redirected),
        alive.page(.anchor("a"), 511).row(22, "511", .portal, .networkAuthenticationRequired),
        alive.page(.anchor("a"), 204).row(23, "a portal fakes the status 204", .portal, .challengeWrong),
        alive.echoed("a").page(.anchor("b"), 302, location: "http://p/").page(.unassigned, 302)
            .row(24, "a portal lets one anchor pass", .portal, .redirected),
        alive.server().asked(.invented, addresses: ["10.1.0.1"]).page(.inventedAddress, 302)
            .row(25, "a portal by DNS", .portal, .portalByDNS),
        alive.hop().asked(.known, addresses: ["10.1.0.1"]).asked(.invented, addresses: ["10.1.0.1"])
            .row(25, "a portal by DNS, whose address was not contacted", .portal, .portalByDNS),
        alive.page(.anchor("a"), 302, location: "http://portal.example").over(.ipv6)
            .adding(.http, .inventedAddress, .blockedHere(ENETUNREACH))
            .row(25, "a portal over one family, and no path of the other", .portal, .redirected),
        alive.page(.anchor("a"), 302).handshake(.anchor("b"), .untrusted, issuer: "P")
            .row(26, "a portal intercepts TLS", .portal, .challengeWrong),
        alive.hop().adding(.portalAPI, .portal, .answered) {
            $0.evidence.portal = PortalInformation(
                isCaptive: true,
                userPortalURL: "https://p/",
                secondsRemaining: 5
            )
        }
        .row(27, "the captive portal API reports captive", .portal, .captive),
        alive.hop().adding(.portalAPI, .portal, .answered) {
            $0.evidence.portal = PortalInformation(isCaptive: true)
        }.over(.ipv6).allWell
            .row(27, "the captive portal API reports captive over one family, the other works", .portal, .captive),
        dead.gateway(.answered).adding(.portalAPI, .portal, .answered) {
            $0.evidence.portal = PortalInformation(isCaptive: false)
        }
        .row(28, "the captive portal API reports open, and there is no internet", .upstream, .silentBeyond),
        none.allWell.page(.unassigned, 503).row(29, "transparent proxy", .works, .internetProven),
        alive.echoed("a").echoed("b").handshake(.anchor("a"), .untrusted, issuer: "X")
            .handshake(.anchor("b"), .untrusted, issuer: "X")
            .row(30, "TLS intercepted", .tls, .intercepted),
        Situation(web).allWell.handshake(.target, .expired).row(31, "a certificate is invalid", .tls, .expired),
    ]

    static let names: [Row] = [
        alive.hop().server(.silent).verified().row(32, "DNS silent", .dns, .serverSilent),
        alive.hop().server(code: .serverFailure).verified().row(33, "SERVFAIL", .dns, .serverFailed),
        alive.hop().server(code: .refused).verified().row(33, "REFUSED", .dns, .serverRefused),
        alive.server(.invalid(.malformedAnswer)).verified().row(33, "malformed", .dns, .malformedAnswer),
        alive.server(.invalid(.mismatchedAnswer)).verified().row(33, "another identifier", .dns, .mismatchedAnswer),
        alive.hop().server(code: .nameError).row(33, "NXDOMAIN for all names", .dns, .knownAnswerDiffers),
        alive.hop().asked(.known).verified().row(33, "no address in the answer", .dns, .knownAnswerDiffers),
        alive.asked(.known, addresses: ["10.9.9.9"]).verified().row(33, "other addresses", .dns, .knownAnswerDiffers),
        alive.hop().asked(.known).changed {
            $0.evidence.results[$0.evidence.results.count - 1].evidence.dns?.isRecursive = false
        }
        .row(33, "a server that is not recursive", .dns, .notRecursive),
        none.allWell.server(.answered, Situation.host, code: .nameError)
            .row(39, "one server answers NXDOMAIN for all names", .degraded, .knownAnswerDiffers),
        alive.server(.invalid(.truncatedWithoutTCP)).verified().row(34, "truncated", .dns, .truncatedWithoutTCP),
        none.allWell.asked(.invented, addresses: ["192.0.2.9"]).row(35, "invented", .dns, .inventsAnswers),
        none.allWell.asked(.expected("n"), addresses: ["192.0.2.9"]).changed {
            $0.evidence.expectations = ["n": [Situation.host]]
        }
        .row(36, "wrong answer", .dns, .wrongAnswer),
        Situation(web).allWell.asked(.target, code: .nameError).row(37, "the name does not exist", .dns, .nameNotFound),
        alive.hop().verified().changed { $0.evidence.servers = [] }
            .row(38, "no server is configured", .dns, .noServerConfigured),
        none.allWell.server(.silent, Situation.gateway).row(39, "one server is silent", .degraded, .serverSilent),
        alive.verified().adding(.dns, .server(Situation.resolver, .known), .answered) {
            $0.evidence.firstAnswer = .milliseconds(1600)
        }
        .row(39, "slow", .degraded, .slow),
        none.allWell.asked(.known, .silent, Situation.resolver, .aaaa)
            .row(39, "AAAA questions are not answered", .degraded, .unansweredAAAA),
    ]

    static let targets: [Row] = [
        Situation(port).allWell.target(.tcp, .silent).row(40, "the host is down", .host, .silent),
        Situation(port).allWell.target(.tcp, Situation.error(3, 1, .hop(3), Situation.address("203.0.113.1")))
            .row(40, "the host is down, and a router reports it", .host, .hostUnreachable),
        Situation(port).allWell.target(.tcp, .silent).target(.echo, .answered)
            .row(41, "packets to the port are dropped", .host, .portFiltered),
        Situation(port).allWell.target(.tcp, Situation.error(3, 13, .peer))
            .row(42, "the host rejects", .host, .prohibited),
        Situation(port).allWell.target(.tcp, .refused(.peer)).row(43, "the port is closed", .service, .refused),
        Situation(web).allWell.target(.tcp, .answered).target(.http, .silent, connected: true)
            .row(44, "hangs", .service, .stalled),
        Situation(web).allWell.target(.http, .invalid(.statusNotExpected))
            .row(44, "status", .service, .statusNotExpected),
        Situation(web).allWell.target(.http, .invalid(.notHTTP)).row(44, "the answer is not HTTP", .service, .notHTTP),
        Situation(web).allWell.target(.http, .invalid(.redirectFailed))
            .row(44, "a redirect leads to a server that does not answer", .service, .redirectFailed),
        Situation(web).gateway(.answered).hop(.silent).server(.silent).anchor(.silent)
            .target(.http, .invalid(.redirectFailed))
            .row(44, "a redirect leads to the internet, which does not answer", .upstream, .silentBeyond),
        Situation(ssh).allWell.target(.ssh, .invalid(.hostKeyMismatch), connected: true)
            .row(44, "another host key", .service, .hostKeyMismatch),
        Situation(ssh).allWell.target(.ssh, .silent, connected: true).row(44, "SSH hangs", .service, .stalled),
        Situation(time).allWell.target(.ntp, .invalid(.notSynchronized))
            .row(44, "a clock without synchronization", .service, .notSynchronized),
        Situation(time).allWell.target(.ntp, .invalid(.retryAfter))
            .row(44, "a time server that limits the rate of requests", .inconclusive, .retryAfter),
        Situation(time).allWell.target(.ntp, .refused(.peer)).row(44, "no time server", .service, .refused),
        Situation(time).allWell.target(.ntp, .silent).row(44, "a silent time server", .host, .silent),
        Situation(port).gateway(.answered).anchor(.silent).target(.tcp, .answered)
            .row(45, "the anchors are dead", .works, .targetAnswers),
        alive.hop().verified("a").anchor(.silent, "b")
            .row(46, "half of the anchors prove the internet", .inconclusive, .anchorsDisagree),
        alive.hop().verified(status: 500)
            .row(47, "the anchors answer with errors over verified TLS", .works, .internetProven),
        none.allWell.over(.ipv6).gateway(.answered).hop(.silent).anchor(.silent)
            .row(48, "IPv6 is broken", .degraded, .ipv6Broken),
        Situation(gateway: nil).anchor(.silent).changed { $0.evidence.underlay = [dead.gateway(.silent).evidence] }
            .row(49, "a VPN over a dead line", .gateway, .silent),
        alive.hop().server().row(50, "nothing proves the internet", .works, .upstreamAnswers),
    ]

    private static func anchor(_ reason: ProbeReason) -> Situation {
        alive.hop().server().handshake(.anchor("a"), reason)
    }

    /// Packets pass, and the only anchor proves nothing.
    static let anchors: [Row] = [
        anchor(.untrusted).row(31, "the anchor's certificate is from an unknown authority", .tls, .untrusted),
        anchor(.expired).row(31, "the anchor's certificate has expired", .tls, .expired),
        anchor(.notYetValid).row(7, "the anchor's certificate is not valid yet", .thisMachine, .clockWrong),
        alive.hop().server().adding(.http, .anchor("a"), .invalid(.statusNotExpected)) {
            $0.phases[.connect] = .zero
            $0.evidence.http = HTTPFacts(status: 404, challenge: .missing)
        }
        .row(46, "the anchor does not have the page", .inconclusive, .anchorsProveNothing),
        alive.hop().server().anchor(.refused(.peer))
            .row(46, "the anchor's port is closed", .inconclusive, .anchorsProveNothing),
        alive.hop().server().anchor(.silent).row(46, "the anchor is silent", .inconclusive, .anchorsProveNothing),
        alive.hop().server().over(.ipv6).gateway(.answered).hop().page(.anchor("a"), 204)
            .row(23, "a portal fakes the status 204, and the anchor has one family", .portal, .challengeWrong),
        alive.hop().server().anchor(.silent).anchor(.silent, "b.example")
            .row(18, "only DNS passes", .upstream, .filtered),
        alive.hop().server().anchor(.invalid(.nameNotFound), "a.example", .resolve)
            .row(37, "the anchor's name does not exist", .dns, .nameNotFound),
        alive.hop().server(code: .nameError).anchor(.invalid(.nameNotFound), "a.example", .resolve)
            .row(33, "the anchor's name is unknown to a server that knows no name", .dns, .knownAnswerDiffers),
        Situation(port).gateway(.answered).hop().server().handshake(.anchor("a"), .untrusted)
            .target(.tcp, .refused(.peer))
            .row(31, "the anchor's authority is unknown, and the target refuses", .service, .refused),
    ]

    /// Packets that the packet filter drops may be unsolicited.
    static let noise: [Row] = [
        noisy(.reachable).row(4, "answers are dropped", .thisMachine, .firewall),
        noisy(.failed).row(9, "unsolicited packets are dropped, and the gateway is dead", .gateway, .neighbourFailed),
        noisy(.incomplete)
            .row(9, "unsolicited packets are dropped, and the gateway is being resolved", .gateway, .neighbourFailed),
    ]

    private static func noisy(_ state: NeighbourFacts.State) -> Situation {
        dead.gateway(.silent, NeighbourFacts(before: .none, after: state, age: .milliseconds(3100)))
            .changed { $0.evidence.dropped = [.ipv4: 4] }
    }

    /// Returns a situation with a tunnel as the gateway, through which nothing answers.
    private static func tunnelled(_ situation: Situation, _ underlay: Situation? = nil) -> Situation {
        situation.changed {
            $0.evidence.path.interface = tunnel
            $0.evidence.tunnel = tunnel
            $0.evidence.underlay = underlay.map { [$0.evidence] } ?? []
        }
    }

    private static let tunnel = NetworkInterface(index: 9, name: "wg0", type: .tunnel)

    /// Silence behind a tunnel is the provider's fault only if the path to its far end works.
    static let tunnels: [Row] = [
        tunnelled(alive.hop().anchor(.silent))
            .row(49, "a tunnel without a known far end", .inconclusive, .silentBeyond),
        tunnelled(dead.gateway(.silent)).row(49, "a tunnel with a dead gateway", .inconclusive, .silent),
        tunnelled(dead.gateway(.silent, NeighbourFacts(before: .none, after: .failed, age: .milliseconds(3100))))
            .row(49, "a tunnel with a gateway that is not resolved", .inconclusive, .neighbourFailed),
        tunnelled(alive.hop().anchor(.silent), alive.hop().server())
            .row(49, "a tunnel over a working path", .upstream, .silentBeyond),
        tunnelled(none.allWell).row(49, "a tunnel that works", .works, .internetProven),
        tunnelled(alive.anchor(Situation.error(3, 0, .gateway)))
            .row(49, "a router behind a tunnel reports an error", .upstream, .noRoute),
        Situation(port).allWell.target(.tcp, .silent).changed {
            $0.evidence.path.interface = tunnel
            $0.evidence.sharesLine = false
        }
        .row(49, "a target is silent behind another tunnel than that of the uplink", .inconclusive, .silent),
        Situation(port, gateway: nil).target(.tcp, givenUp).changed {
            $0.evidence.path.interface = tunnel
            $0.evidence.sharesLine = false
        }
        .row(49, "a tunnel accepts no packet, and there is no other line", .inconclusive, .neighbourFailed),
        Situation(port).allWell.target(.tcp, givenUp).changed {
            $0.evidence.path.interface = tunnel
            $0.evidence.sharesLine = false
        }
        .row(49, "a tunnel accepts no packet, and the uplink is another path", .inconclusive, .silent),
    ]

    /// Returns a target with addresses of both families that is checked repeatedly.
    private static func both(_ ipv4: ProbeOutcome, _ ipv6: ProbeOutcome, isCompared: Bool = true) -> Situation {
        Situation(port).over(.ipv6).target(.tcp, ipv6).over(.ipv4).target(.tcp, ipv4)
            .changed { $0.evidence.comparesFamilies = isCompared }
    }

    static let families: [Row] = [
        both(.answered, .silent).row(20, "IPv6 is silent", .degraded, .ipv6Broken),
        both(.silent, .answered).row(20, "IPv4 is silent", .degraded, .ipv4Broken),
        both(.answered, Situation.error(3, 0, .gateway)).row(20, "a router refuses IPv6", .degraded, .ipv6Broken),
        both(.answered, .refused(.peer)).row(45, "the host listens on IPv4 only", .works, .targetAnswers),
        both(.answered, .answered).row(45, "both families answer", .works, .targetAnswers),
        both(.answered, .silent, isCompared: false)
            .row(45, "a single check ends at the answer", .works, .targetAnswers),
    ]

    private static let givenUp = Situation.error(3, 1, .thisMachine)

    /// A neighbour entry that another program left incomplete, and a user without permission for echoes.
    static let neighbours: [Row] = [
        alive.hop(givenUp).server(givenUp).anchor(givenUp)
            .row(9, "packets were discarded before the gateway answered", .inconclusive, .notEnoughEvidence),
        alive.hop().server(givenUp).anchor(givenUp)
            .row(
                9,
                "packets were discarded before the gateway and the second hop answered",
                .inconclusive,
                .notEnoughEvidence
            ),
        Situation(port).allWell.target(.tcp, givenUp)
            .row(9, "packets to a target were discarded, and the internet answers", .inconclusive, .notEnoughEvidence),
        none.gateway(givenUp).hop(givenUp).anchor(givenUp)
            .row(9, "the gateway is not resolved", .gateway, .neighbourFailed),
        dead.gateway(.silent).gateway(.skipped(.notPermitted))
            .row(
                10,
                "a gateway as the target, without permission for echoes and without a reset, is silent",
                .gateway,
                .silent
            ),
        dead.gateway(.refused(.peer)).changed {
            $0.evidence.dropped = [.ipv4: 5]
            $0.evidence.isReversePathFiltered = true
        }
        .row(8, "the reverse path filter passes only packets from the gateway", .inconclusive, .reversePathFilter),
        dead.gateway(.silent).gateway(.skipped(.notPermitted)).gateway(.refused(.gateway))
            .row(10, "a gateway as the target, without permission for echoes, sends a reset", .upstream, .silentBeyond),
    ]

    private static let missing = ProbeOutcome.blockedHere(ENETUNREACH)

    /// This machine refuses to send. Any error number is not an answer of another host.
    static let refusals: [Row] = [
        refused(EACCES).row(5, "a rule prohibits the port", .thisMachine, .init(rawValue: "prohibited")),
        refused(ENETUNREACH).row(5, "a rule of the type unreachable", .thisMachine, .noRoute),
        refused(EHOSTUNREACH).row(5, "a route of the type unreachable", .thisMachine, .init(rawValue: "unreachable")),
        refused(EINVAL).row(5, "a route of the type blackhole", .thisMachine, .init(rawValue: "blackholed")),
        refused(ENETDOWN).row(5, "the link is down", .thisMachine, .init(rawValue: "linkDown")),
        refused(EADDRNOTAVAIL)
            .row(5, "the source address does not exist", .thisMachine, .init(rawValue: "noSourceAddress")),
        refused(ENODEV).row(5, "the interface does not exist", .thisMachine, .init(rawValue: "noInterface")),
        refused(EAFNOSUPPORT).row(5, "another error", .thisMachine, .init(rawValue: "refused")),
        Situation(port).gateway(.silent).hop(.silent).server(.silent).target(.tcp, .blockedHere(EACCES))
            .row(
                5,
                "a rule prohibits the port, and there is no evidence of the internet",
                .thisMachine,
                .init(rawValue: "prohibited")
            ),
        refused(EACCES).target(.echo, .answered)
            .row(
                5,
                "a rule prohibits the port, and the host answers echoes",
                .thisMachine,
                .init(rawValue: "prohibited")
            ),
        Situation(CheckTarget("dns://203.0.113.7/n", decisive: .dns)).allWell.target(.dns, .blockedHere(EACCES))
            .target(.echo, .answered)
            .row(
                5,
                "a rule prohibits DNS to a server that answers echoes",
                .thisMachine,
                .init(rawValue: "prohibited")
            ),
        none.gateway(.blockedHere(EACCES)).hop(.blockedHere(EACCES)).server(.blockedHere(EACCES))
            .changed { $0.evidence.families = [.ipv4] }
            .row(5, "a rule prohibits everything", .thisMachine, .init(rawValue: "prohibited")),
        alive.hop().server().anchor(missing)
            .row(5, "a rule prohibits the port of the only anchor", .thisMachine, .noRoute),
        none.server(missing).over(.ipv6).gateway(.answered).hop().verified()
            .row(5, "no packet is sent to DNS servers of a family without a route", .thisMachine, .noRoute),
        none.server(missing).over(.ipv6).gateway(.answered).hop()
            .row(5, "the same without an anchor", .thisMachine, .noRoute),
        alive.hop().server(missing).server(.answered, Situation.host, code: .serverFailure).verified()
            .row(33, "one DNS server fails, and no packet is sent to the other", .dns, .serverFailed),
        dead.gateway(.silent).server(missing)
            .row(9, "the gateway is dead, and a rule prohibits a port", .gateway, .silent),
        refused(EACCES).over(.ipv6).target(.tcp, .refused(.peer))
            .row(43, "a rule over one family, the other refuses", .service, .refused),
        refused(EACCES).over(.ipv6).target(.tcp, .answered)
            .row(45, "a rule over one family, and the other answers", .works, .targetAnswers),
    ]

    private static func refused(_ number: Int32) -> Situation {
        Situation(port).allWell.target(.tcp, .blockedHere(number))
    }

    /// Anchors with addresses of one family, on a network with both.
    static let oneFamily: [Row] = [
        alive.hop().server().anchor(.silent).over(.ipv6).hop()
            .row(46, "the anchors are silent over IPv4", .inconclusive, .anchorsProveNothing),
        alive.hop().server().over(.ipv6).hop().anchor(.silent)
            .row(46, "the anchors are silent over IPv6", .inconclusive, .anchorsProveNothing),
        alive.hop().server().anchor(.silent).over(.ipv6).hop().anchor(.silent)
            .row(46, "the anchors are silent over both families", .inconclusive, .anchorsProveNothing),
        alive.hop().server().echoed().over(.ipv6).hop().server()
            .row(1, "the internet is proven over IPv4", .works, .internetProven),
        alive.hop().server().over(.ipv6).hop().echoed()
            .row(1, "the internet is proven over IPv6", .works, .internetProven),
        alive.hop().server().over(.ipv6).hop().server().handshake(.anchor("a"), .untrusted)
            .row(31, "the anchor's certificate over IPv6 is from an unknown authority", .tls, .untrusted),
        none.allWell.over(.ipv6).gateway(.answered).hop().anchor(.silent)
            .row(48, "one anchor answers, and is silent over IPv6", .degraded, .ipv6Broken),
    ]

    private static func expecting(_ addresses: String...) -> Situation {
        none.allWell.changed { $0.evidence.expectations = ["n": Set(addresses.map(Situation.address))] }
    }

    private static let other = Situation.address("10.1.0.53")

    /// Names with expected addresses.
    static let expectations: [Row] = [
        rightServer.silent(.expected("n"), other)
            .row(36, "one server is silent, and the other is right", .degraded, .serverSilent),
        rightServer.asked(.expected("n"), Situation.error(3, 13, .hop(2)), other)
            .row(
                36,
                "the port of one server is blocked upstream, and the other is right",
                .degraded,
                .serverUnreachable
            ),
        Situation(CheckTarget("tcp://n:80", name: "n", decisive: .tcp)).allWell.target(.tcp, .answered)
            .changed { $0.evidence.expectations = ["n": [Situation.host]] }
            .asked(.expected("n"), addresses: ["203.0.113.7"]).silent(.expected("n"), other)
            .row(36, "the target answers, and one of its servers is silent", .degraded, .serverSilent),
        expecting("203.0.113.7").silent(.expected("n")).silent(.expected("n"), other)
            .row(36, "both servers are silent", .dns, .serverSilent),
        expecting("203.0.113.8").asked(.expected("n"), addresses: ["203.0.113.7"]).silent(.expected("n"), other)
            .row(36, "one server is silent, and the other is wrong", .dns, .wrongAnswer),
        rightServer.asked(.expected("n"), .invalid(.serverFailed), other)
            .row(33, "one server fails, and the other is right", .dns, .serverFailed),
        rightServer.asked(.expected("n"), .answered, other, code: .nameError)
            .row(37, "one server answers NXDOMAIN, and the other is right", .dns, .nameNotFound),
        expecting("2001:db8::7").asked(.expected("n"), addresses: ["203.0.113.7"])
            .asked(.expected("n"), .silent, Situation.resolver, .aaaa)
            .row(36, "questions for the expected family are not answered", .dns, .unansweredAAAA),
        rightServer.asked(.expected("n"), .silent, Situation.resolver, .aaaa)
            .row(1, "questions for the other family are not answered", .works, .internetProven),
        expecting("203.0.113.7").asked(.expected("n"), missing)
            .row(5, "no packet is sent to either server", .thisMachine, .noRoute),
    ]

    private static let rightServer = expecting("203.0.113.7").asked(.expected("n"), addresses: ["203.0.113.7"])

    /// Large packets to a target that answers.
    static let sizes: [Row] = [
        sized([(1500, false), (100, true), (1500, false), (1280, true), (100, true)])
            .row(21, "lost", .degraded, .pathMTU),
        sized([(1500, false), (100, true), (1500, false), (1280, false), (100, true)])
            .row(21, "the large packet and a middle one are lost", .degraded, .pathMTU),
        sized([(1500, false), (100, true), (1500, false), (1280, false), (100, false)])
            .row(45, "the large packet and the second control are lost", .works, .targetAnswers),
        sized([(100, true), (1500, false), (1500, true), (1280, true)])
            .row(45, "the large packet is lost once", .works, .targetAnswers),
        sized([(100, true), (1500, true)]).row(45, "answered", .works, .targetAnswers),
        sized([(100, false), (1500, false)]).row(45, "no packet is answered", .works, .targetAnswers),
    ]

    private static let pinged = CheckTarget("icmp://10.1.0.1", decisive: .echo)

    /// Returns a gateway as the target of an echo without permission: the datagram in place of the echo is not answered.
    private static func pinging(_ target: CheckTarget = pinged) -> Situation {
        Situation(target).adding(.udp, .target, .silent, to: Situation.gateway).hop().verified()
    }

    private static func dead(gateway outcome: ProbeOutcome) -> Situation {
        Situation(pinged).adding(.udp, .target, .silent, to: Situation.gateway).gateway(outcome).server(.silent)
            .changed { $0.evidence.isOnLink = true }
    }

    static let pings: [Row] = [
        pinging().row(43, "silent", .host, .silent),
        pinging().gateway(.refused(.gateway)).row(45, "the gateway answers as a gateway", .works, .targetAnswers),
        pinging().server(.answered, Situation.gateway)
            .row(45, "the gateway answers as a DNS server", .works, .targetAnswers),
        pinging().server(Situation.error(3, 13, .gateway))
            .row(45, "the gateway refuses a packet to another host", .works, .targetAnswers),
        pinging().server().row(43, "another host answers", .host, .silent),
        dead(gateway: .silent).row(10, "the gateway is the target of an echo, and is dead", .gateway, .silent),
        dead(gateway: .silent).hop().verified()
            .row(11, "the gateway is the target of an echo, and only forwards", .host, .silent),
        Situation(pinged).adding(.echo, .target, .silent, to: Situation.gateway).gateway(.answered).hop().verified()
            .row(43, "an echo is permitted and not answered", .host, .silent),
    ]

    private static func sized(_ sizes: [(Int, Bool)]) -> Situation {
        sizes.reduce(Situation(port).target(.tcp, .answered)) { situation, size in
            situation.adding(.mtu, .target, size.1 ? .answered : .silent, to: Situation.host) {
                $0.request.size = size.0
            }
        }
    }

    /// A documentation prefix that is used as a network.
    static let laboratories: [Row] = [
        captive(Situation.address("192.0.2.1"), Situation(port).target(.tcp, .answered))
            .row(22, "the unassigned address answers", .portal, .redirected),
        captive(Situation.address("203.0.113.1"), Situation(port).target(.tcp, .answered))
            .row(45, "the target is in the network of the unassigned address", .works, .targetAnswers),
    ]

    private static func captive(_ address: IPAddress, _ situation: Situation) -> Situation {
        situation.adding(.interception, .unassigned, .answered, to: address) {
            $0.evidence.http = HTTPFacts(status: 302, location: "http://p/")
        }
    }

    @Test(
        arguments: [
            kernel, line, portals, names, targets, anchors, noise, refusals, oneFamily, expectations, sizes,
            laboratories, tunnels, families, neighbours, pings,
        ]
        .flatMap(\.self)
    )
    func `each situation has its place and reason`(row: Row) {
        let verdict = row.situation.verdict
        #expect(verdict.failurePoint == row.place && verdict.reason == row.reason, "\(verdict)")
        #expect(!verdict.text.isEmpty)
    }

    @Test func `the rows cover the table`() {
        let rows = Self.kernel + Self.line + Self.portals + Self.names + Self.targets
        #expect(Set(rows.map(\.number)) == Set(1...50))
    }

    @Test func `a missing permission lowers the confidence and keeps the place`() {
        let skipped = Self.dead.gateway(.silent).anchor(.skipped(.notPermitted), "a.example", .echo)
        #expect(skipped.verdict.failurePoint == .gateway && skipped.verdict.confidence == .suspected)
    }

    @Test func `a missing permission is named with its capability`() {
        let marked = Self.none.gateway(.skipped(.notPermitted)).server(.skipped(.notPermitted))
            .adding(.interception, .unassigned, .skipped(.notPermitted))
            .changed {
                for index in $0.evidence.results.indices { $0.evidence.results[index].request.binding.mark = 7 }
            }
        let verdict = marked.verdict
        #expect(verdict.failurePoint == .inconclusive && verdict.reason == .notPermitted, "\(verdict)")
        #expect(verdict.text.contains("mark 7") && verdict.text.contains("CAP_NET_ADMIN"))
    }

    @Test func `an answer that an interception may have sent is doubtful`() {
        let open = Situation(Self.port).target(.tcp, .answered)
        #expect(TargetStage.isDoubtful(open.evidence))
        // The interception was tested, or is not possible.
        #expect(!TargetStage.isDoubtful(open.adding(.interception, .unassigned, .silent).evidence))
        #expect(!TargetStage.isDoubtful(open.verified().evidence))
        #expect(!TargetStage.isDoubtful(open.changed { $0.evidence.sharesLine = false }.evidence))
        let secure = Situation(Self.web).adding(.http, .target, .answered) {
            $0.evidence.tls = TLSFacts(isVerified: true)
        }
        #expect(!TargetStage.isDoubtful(secure.evidence))
        #expect(!TargetStage.isDoubtful(Situation(Self.port).target(.tcp, .silent).evidence))
        // A host that answers in place of others also answers in place of the target, unless an anchor proves that connections pass.
        let captive = open.page(.unassigned, 302, location: "http://p/")
        #expect(captive.verdict.failurePoint == .portal, "\(captive.verdict)")
        #expect(captive.verified().verdict.reason == .targetAnswers)
        #expect(captive.changed { $0.evidence.sharesLine = false }.verdict.reason == .targetAnswers)
    }

    @Test(arguments: [
        (40, nil), (30, nil), (29, ProbeReason.certificateExpiring), (7, .certificateExpiring),
        (6, .certificateNearlyExpired),
        (0, .certificateNearlyExpired),
    ])
    func `a certificate that expires soon makes a target degraded`(days: Int, reason: ProbeReason?) {
        var target = Self.web
        target.certificateDays = CertificateDays(warn: 30, alert: 7)
        let situation = Situation(target).adding(.http, .target, .answered) {
            $0.evidence.tls = TLSFacts(isVerified: true, daysLeft: days)
        }
        let verdict = situation.verdict
        #expect(verdict.failurePoint == (reason == nil ? .works : .degraded))
        #expect(verdict.reason == reason ?? .targetAnswers)
        let time = days == 0 ? "less than a day" : "\(days) more days"
        #expect(reason == nil || verdict.text.contains("is valid for \(time)"), "\(verdict.text)")
        #expect(situation.changed { $0.evidence.target = Self.web }.verdict.failurePoint == .works)
    }

    @Test(arguments: [(-1, "less than a day"), (-2, "1 day"), (-10, "9 days")])
    func `an expired certificate that a policy accepts makes a target degraded`(days: Int, time: String) {
        var target = Self.web
        target.certificateDays = CertificateDays(warn: 30)
        let verdict = Situation(target).adding(.http, .target, .answered) {
            $0.evidence.tls = TLSFacts(isVerified: true, daysLeft: days)
        }.verdict
        #expect(verdict.text == "the certificate of \(target.text) expired \(time) ago")
    }

    @Test func `the certificate of another host after a redirect is not that of the target`() throws {
        let own = Situation(Self.web).adding(.http, .target, .answered) {
            $0.evidence.tls = TLSFacts(isVerified: true, daysLeft: 90)
        }
        let before = try #require(own.evidence.results.first)
        var good = before
        good.evidence.tls?.daysLeft = 3
        good.keepCertificate(of: before, redirectedTo: "https://b.example/")
        #expect(good.evidence.tls?.daysLeft == 90)
        let bad = Situation(Self.web).allWell.adding(.tls, .target, .invalid(.untrusted)) {
            $0.evidence.tls = TLSFacts(isVerified: false, issuer: "CN=b")
            $0.keepCertificate(of: before, redirectedTo: "https://b.example/")
        }.verdict
        let fault = "it redirects to https://b.example/, with which TLS fails: untrusted, issued by CN=b"
        #expect(bad.failurePoint == .tls && bad.text.hasSuffix("fails: \(fault)"), "\(bad.text)")
        var plain = before
        plain.evidence.tls = nil
        good.keepCertificate(of: plain, redirectedTo: nil)
        #expect(good.evidence.tls != nil)
        good.keepCertificate(of: plain, redirectedTo: "https://b.example/")
        #expect(good.evidence.tls == nil)
    }

    @Test func `a DNS server that is the target decides with its own answers`() {
        for outcome in [ProbeOutcome.invalid(.serverFailed), .silent] {
            let target = CheckTarget("dns://203.0.113.7/n", decisive: .dns)
            let verdict = Situation(target).allWell.target(.dns, outcome).target(.echo, .answered).verdict
            #expect(verdict.failurePoint == .dns, "\(verdict)")
            #expect(verdict.decidingProbes.contains { $0.kind == .dns && $0.subject == .target })
        }
    }

    @Test func `the issuer of a certificate that is not trusted is named, and a refusal of STARTTLS is explained`() {
        let untrusted = Situation(Self.web).allWell.handshake(.target, .untrusted, issuer: "CN=Corporate\u{1b} Proxy")
        #expect(untrusted.verdict.text.hasSuffix("fails: untrusted, issued by CN=Corporate\\u{1b} Proxy"))
        let mail = CheckTarget("smtp://203.0.113.7:25", decisive: .tls)
        func verdict(_ reason: ProbeReason) -> CheckVerdict {
            Situation(mail).allWell.adding(.tls, .target, .invalid(reason), to: Situation.host) {
                ($0.failedPhase, $0.phases, $0.evidence.detail) = (.request, [.connect: .milliseconds(1)], "it is so")
            }.verdict
        }
        let refusal = verdict(.startTLSRefused)
        #expect(refusal.failurePoint == .tls && refusal.text == "TLS with smtp://203.0.113.7:25 fails: it is so")
        #expect(verdict(.greetingNotExpected).failurePoint == .service)
        #expect(verdict(.closedWithoutAnswer).failurePoint == .service)
    }

    @Test func `observations that do not decide are notes`() {
        let differing = Situation(Self.web).allWell.asked(.target, addresses: ["192.0.2.9"])
            .asked(.target, .answered, Situation.gateway, addresses: ["192.0.2.10"])
            .adding(.http, .target, .answered) { $0.evidence.http = HTTPFacts(status: 302, location: "https://b/") }
        #expect(differing.verdict.failurePoint == .works)
        #expect(
            Set(["redirected", "answersDiffer"]).isSubset(of: differing.verdict.notes),
            "\(differing.verdict.notes)"
        )
        let bad = differing.changed { $0.evidence.results.removeLast() }.handshake(.target, .wrongName).verdict
        #expect(bad.failurePoint == .dns && bad.reason == .wrongAnswer, "\(bad)")
    }

    @Test func `an address conflict is distinguished from a replaced router`() {
        let recorder = HardwareAddressRecorder()
        for address: [UInt8] in [[], [2, 1], [2, 1], [2, 2], []] { recorder.note(address) }
        #expect(!recorder.isContested)
        recorder.note([2, 1])
        #expect(recorder.isContested)
    }

    @Test func `unsolicited packets are subtracted from dropped ones`() {
        let noise = UnsolicitedPackets(in: .current, counted: [.ipv4: 4])
        #expect(noise.removed(from: [.ipv4: 36, .ipv6: 3], in: .seconds(3)) == [.ipv4: 1, .ipv6: 3])
        // Ten packets per second. Six are expected during the count.
        #expect(noise.removed(from: [.ipv4: 30], in: .seconds(3)) == [.ipv4: 0])
        // A round that ends before the count has no noise. If the machine did not get to count, the noise is unknown.
        let uncounted = UnsolicitedPackets(in: .current)
        #expect(uncounted.removed(from: [.ipv4: 4], in: .seconds(2)) == [.ipv4: 4])
        #expect(uncounted.removed(from: [.ipv4: 4], in: .seconds(3)) == [.ipv4: 0])
    }

    /// The kernel counts a packet when it arrives and again when it is delivered. A packet in between may be delivered during the count.
    @Test func `negative differences of packet counters are not counted`() {
        func counters(_ received: Int, _ delivered: Int) -> PacketCounters {
            PacketCounters(
                four: "Ip: InReceives InDelivers\nIp: \(received) \(delivered)\n",
                six: "Ip6InReceives \(received)\nIp6InDelivers \(delivered)\n"
            )
        }
        let dropped = counters(20, 19).dropped(since: counters(10, 7))
        #expect(dropped == [.ipv4: 0, .ipv6: 0])
        #expect(counters(20, 12).dropped(since: counters(10, 7)) == [.ipv4: 5, .ipv6: 5])
        let noise = UnsolicitedPackets(in: .current, counted: [.ipv4: -2])
        #expect(noise.removed(from: [.ipv4: 3], in: .seconds(3)) == [.ipv4: 3])
    }

    @Test func `void results do not decide`() {
        let old = Self.dead.gateway(.silent).adding(.hop, .line, .answered, generation: 0)
        #expect(old.verdict.failurePoint == .gateway)
        let early = NeighbourFacts(before: .incomplete, after: .failed, age: .milliseconds(240))
        #expect(Self.dead.gateway(.silent, early).verdict.confidence == .likely)
        let unassigned = Self.alive.hop().server().adding(.interception, .unassigned, Situation.error(3, 0, .gateway))
        #expect(unassigned.verdict.failurePoint == .works)
    }
}

extension Situation {
    /// Returns the row for this situation with the expected place and reason.
    fileprivate func row(
        _ number: Int,
        _ name: String,
        _ place: CheckPlace,
        _ reason: ProbeReason
    ) -> SituationTests.Row {
        .init(number: number, description: "\(number) \(name)", place: place, reason: reason, situation: self)
    }
}
