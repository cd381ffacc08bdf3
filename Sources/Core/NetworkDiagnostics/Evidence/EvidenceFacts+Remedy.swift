import LinuxSupport
import Netlink
import NetworkReachability

extension EvidenceFacts {
    /// The remedy for the broken step, in one sentence.
    var remedy: String? {
        guard let reason = path.reason else { return nil }
        if obstacle?.isBelow == true, reason != .discarded {
            return isLowerLinkObstacle ? linkRemedy(reason) : remedyBelow
        }
        switch reason {
        case .netlinkUnavailable:
            return
                "permit this program to open netlink sockets: a sandbox such as RestrictAddressFamilies= of systemd denies AF_NETLINK"
        case .namespaceGone: return "create the network namespace again, or use another one"
        case .resolving, .nameNotResolved: return nameRemedy
        case _ where isAboutServers && decisive == nil && obstacle?.cause == .noRoute:
            return "add a name server to /etc/resolv.conf"
        case .noRoute where !ruleRefused && (unusedRoute != nil || ipv6Obstacle != nil):
            return unusedRoute?.remedy(familyOption) ?? ipv6Obstacle?.remedy
        case .noRoute where !ruleRefused:
            let source = decisive?.isIPv6 == true ? "router advertisements" : "DHCP"
            return "add a route to \(subject), usually a default route, or find out why \(source) provided none"
        case .noRoute, .unreachable, .prohibited, .blackholed: return refusalRemedy
        case .noCarrier, .linkDown, .dormant: return linkRemedy(reason)
        case .discarded:
            let name = links.first?.interface.name ?? "this one"
            let lower = obstacle?.isBelow == true ? links.dropFirst().last?.interface.name : nil
            return "change the default route to another interface than \(name)"
                + (lower.map { ", which runs over \($0)" } ?? "")
        case .noSourceAddress: return sourceRemedy
        case .interfaceNotAllowed: return "permit interfaces of this type, or bind to an interface of another type"
        case .noInterface: return interfaceRemedy
        default: return "query the kernel with `ip route get \(subject)`, and read its log with `dmesg`"
        }
    }

    private var nameRemedy: String {
        if let serverRemedy { return serverRemedy }
        if let resolver, resolver.namesNoServer, nameFailure?.isDenial != true {
            return "add a name server to \(resolver.file)"
        }
        if path.reason == .resolving { return "wait for the name service, or check the servers in /etc/resolv.conf" }
        if case .unavailable? = nameFailure {
            return "check whether the servers in /etc/resolv.conf are correct and reachable"
        }
        if nameFailure == nil, family != nil {
            return "use the other address family, or add an address of this family to the name"
        }
        return "check the spelling of \(target), or add it to the name service or to /etc/hosts"
    }

    /// The remedy according to the answer of the first server that did not resolve the name.
    private var serverRemedy: String? {
        let servers = resolver?.servers ?? []
        let file = resolver?.file ?? ResolverConfiguration.serverFile
        guard let asked = servers.first(where: { $0.reason == nil && $0.answer != nil }) else { return nil }
        if nameFailure?.isDenial == true, asked.deniesName { return nil }
        let address = asked.address
        switch asked.answer {
        case "REFUSED"?:
            return "\(address) refuses to answer this machine: change its access control, or use another server"
                + " in \(file)"
        case "SERVFAIL"?:
            return "\(address) answers, but cannot resolve the name: it or the servers of the domain have failed;"
                + " try another server in \(file)"
        case "silence"?:
            return "start the name server at \(address), permit its answers in the firewall (UDP port 53),"
                + " or use another server in \(file)"
        case "truncated"?:
            return "permit TCP port 53 of \(address) in the firewall, or use another server in \(file)"
        case "FORMERR"?, "NOTIMP"?:
            return "\(address) answers, but does not support the query: use another server in \(file)"
        case "closed"?: return "start the name server at \(address), or use another server in \(file)"
        case "NOERROR"?, "NXDOMAIN"?: return "try again: \(address) answers now"
        default: return "check the name server at \(address), or use another server in \(file)"
        }
    }

    /// The option of `ip` for IPv6.
    private var familyOption: String { decisive?.isIPv6 == true ? "-6 " : "" }

    private var refusalRemedy: String {
        if let rule, ruleRefused {
            return warningAbout("rule \(rule.priority) rejects the packets")
                + "delete it with `ip \(familyOption)rule del priority \(rule.priority) \(rule.selector) \(rule.action)`,"
                + " or exclude \(subject) from it"
        }
        let type = path.reason == .prohibited ? "prohibit" : path.reason == .blackholed ? "blackhole" : "unreachable"
        guard let route, isRouteRefusing, let table = route.table else {
            return
                "delete the route that `ip \(familyOption)route show table all type \(type)` lists, or add a more specific one to"
                + " \(subject)"
        }
        // If the next hop object of a route rejects the packets, `ip` is given no route type.
        let kind = route.nextHopObject == nil ? type + " " : ""
        let place = "\(kind)\(route.commandPrefix) table \(NetworkEvidence.name(ofTable: table))\(route.commandMetric)"
        return warningAbout("the route rejects the packets")
            + "delete it with `ip \(familyOption)route del \(place)`, or add a more specific one to \(subject)"
    }

    /// Returns an introduction to a command that deletes a rule or route. It contains a warning if that may be a kill
    /// switch.
    private func warningAbout(_ what: String) -> String {
        guard mayBeKillSwitch else { return "\(what): " }
        return
            "\(what), and may be the kill switch of a VPN, which blocks packets outside the VPN: connect the VPN"
            + " first; if no VPN is intended, "
    }

    /// Returns the remedy for the link that blocks the path, or for all links.
    private func linkRemedy(_ reason: NetworkPath.UnsatisfiedReason) -> String {
        guard obstacle?.link != nil || links.count == 1, let link = brokenLink else {
            return reason == .linkDown
                ? "every interface is down: set one up with `ip link set NAME up`"
                : "no interface has a carrier: plug in a cable, or connect one to its network"
        }
        let name = link.interface.name
        switch link.obstacle ?? reason {
        case .linkDown: return "\(name) is down: set it up with `ip link set \(name.shellWord) up`"
        case .dormant where link.interface.type == .wiFi:
            return "\(name) is dormant: it waits for the keys of its Wi-Fi network"
        case .dormant:
            return "\(name) is dormant: it waits for an external event, such as authentication at the switch (802.1X)"
        case _ where link.hasPorts:
            return "\(name) has no carrier, because none of its ports has one: repair a port, or add one with"
                + " `ip link set PORT master \(name.shellWord)`"
        default: return "\(name) has no carrier: \(Self.carrierAdvice(link.interface.type))"
        }
    }

    private static func carrierAdvice(_ type: InterfaceType) -> String {
        switch type {
        case .ethernet: "the cable or the switch port is down"
        case .wiFi: "it has not joined a Wi-Fi network"
        case .wwan: "the modem is not connected"
        case .wiredVirtual: "the other end of the virtual link is down or was removed"
        case .tunnel: "the program that serves the tunnel is not running, or not connected"
        case .loopback, .other: "the device at the other end is down or was removed"
        }
    }

    private var remedyBelow: String {
        let name = (tunnel ?? links.first)?.interface.name ?? "the tunnel"
        guard let remote = tunnel?.tunnelRemote else { return "repair the interface below \(name)" }
        return "repair the path to the far end of \(name): `reachability why \(remote)` shows its error"
    }

    private var sourceRemedy: String {
        if let bound = target.constraints.source {
            return
                "bind to an address of this machine instead of \(bound), or add that address: `ip address` lists the addresses"
        }
        if let ipv6Obstacle { return ipv6Obstacle.remedy }
        let name = links.first?.interface.name ?? "NAME"
        let kind = decisive?.isIPv6 == true ? "IPv6" : "IPv4"
        return
            "give \(name) an \(kind) address that replies can reach: `ip address add ADDRESS/LENGTH dev \(name.shellWord)`"
    }

    private var interfaceRemedy: String {
        if let missingZone { return "name an existing interface instead of \(missingZone): `ip link` lists them" }
        if let decisive, decisive.isIPv6, decisive.isLinkLocal, decisive.zone == nil {
            return "add the interface to \(decisive), for example \(decisive)%eth0"
        }
        return links.isEmpty
            ? "connect a network device or load its driver, or add an interface to the network namespace"
            : "try again: the interface was just removed"
    }
}

extension EvidenceFacts {
    /// An obstacle for IPv6 on a link.
    enum IPv6Obstacle {
        case smallMTU(String, UInt32)
        case disabled(String)
        case duplicate(String, String)

        /// A short text.
        var summary: String {
            switch self {
            case .smallMTU(let name, let mtu): "the MTU of \(name) is \(mtu), and IPv6 needs 1280"
            case .disabled(let name): "IPv6 is disabled on \(name) (disable_ipv6)"
            case .duplicate(let name, let address): "another machine uses the address \(address) of \(name) (dadfailed)"
            }
        }

        /// The remedy in one sentence.
        var remedy: String {
            switch self {
            case .smallMTU(let name, _):
                "raise the MTU with `ip link set \(name.shellWord) mtu 1280`, then add the IPv6 addresses and routes again"
            case .disabled(let name):
                "enable IPv6 with `sysctl -w \("net.ipv6.conf.\(name.sysctlName).disable_ipv6=0".shellWord)`, then add the addresses and"
                    + " routes again"
            case .duplicate(let name, let address):
                "find the other machine, or give \(name) another address; to repeat the check, run `ip address del \(address) dev \(name.shellWord)`"
                    + " and add the address again"
            }
        }
    }
}

extension NetworkEvidence.Route {
    /// The prefix in the form that `ip route` accepts. The family is an option.
    var commandPrefix: String { prefix.map { $0.hasSuffix("/0") ? "default" : $0 } ?? "" }

    /// The metric in the form that `ip route` accepts; empty for 0.
    var commandMetric: String { metric == 0 ? "" : " metric \(metric)" }
}

extension String {
    /// The text as one word of a POSIX shell. An interface can have any name, and users paste the recommended commands.
    var shellWord: String {
        let isPlain = unicodeScalars.allSatisfy {
            $0.isASCII && ($0.properties.isAlphabetic || "0123456789:._-=".unicodeScalars.contains($0))
        }
        return isPlain
            ? self : "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }

    /// The name of the interface for `sysctl(8)`, in which a dot is written as a slash.
    fileprivate var sysctlName: String { String(map { $0 == "." ? "/" : $0 }) }
}
