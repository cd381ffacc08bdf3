import LinuxSupport
import Netlink
import NetworkReachability

extension EvidenceFacts {
    /// The remedy for the broken step, in one sentence.
    var remedy: String? {
        guard let reason = path.reason else { return nil }
        if obstacle?.isBelow == true, reason != .discarded { return isLowerToBlame ? linkRemedy(reason) : remedyBelow }
        switch reason {
        case .netlinkUnavailable:
            return
                "let this program open netlink sockets: a sandbox such as RestrictAddressFamilies= of systemd denies AF_NETLINK"
        case .namespaceGone: return "make the network namespace again, or ask in another one"
        case .resolving, .nameNotResolved: return nameRemedy
        case _ where isAboutServers && decisive == nil && obstacle?.cause == .noRoute:
            return "name a server in /etc/resolv.conf"
        case .noRoute where !ruleRefused && (passedOver != nil || ipv6Trouble != nil):
            return passedOver?.remedy(familyOption) ?? ipv6Trouble?.remedy
        case .noRoute where !ruleRefused:
            let source = decisive?.isIPv6 == true ? "router advertisements" : "DHCP"
            return "add a route to \(subject), usually a default route, or find out why \(source) brought none"
        case .noRoute, .unreachable, .prohibited, .blackholed: return refusalRemedy
        case .noCarrier, .linkDown, .dormant: return linkRemedy(reason)
        case .discarded:
            let name = links.first?.interface.name ?? "this one"
            let lower = obstacle?.isBelow == true ? links.dropFirst().last?.interface.name : nil
            return "give the default route another interface than \(name)"
                + (lower.map { ", which runs over \($0)" } ?? "")
        case .noSourceAddress: return sourceRemedy
        case .interfaceNotAllowed: return "allow interfaces of this type, or bind to an interface of another"
        case .noInterface: return interfaceRemedy
        default: return "ask the kernel itself with `ip route get \(subject)`, and read its log with `dmesg`"
        }
    }

    private var nameRemedy: String {
        if let serverRemedy { return serverRemedy }
        if let resolver, resolver.namesNoServer, nameFailure?.isDenial != true {
            return "name a server in \(resolver.file)"
        }
        if path.reason == .resolving { return "wait for the name service, or check the servers in /etc/resolv.conf" }
        if case .unavailable? = nameFailure {
            return "check the servers in /etc/resolv.conf, and whether they can be reached"
        }
        if nameFailure == nil, family != nil {
            return "ask over the other family, or give the name an address of this one"
        }
        return "check how \(target) is spelled, or add it to the name service or to /etc/hosts"
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
            return "\(address) answers, but not to this machine: let it serve this machine, or name another server"
                + " in \(file)"
        case "SERVFAIL"?:
            return "\(address) answers, but could not find out: it or the servers of the domain are at fault;"
                + " try another server in \(file)"
        case "silence"?:
            return "start the name server at \(address), let its answers through the firewall (UDP port 53),"
                + " or name another one in \(file)"
        case "truncated"?:
            return "let TCP port 53 of \(address) through the firewall, or name another server in \(file)"
        case "FORMERR"?, "NOTIMP"?:
            return "\(address) answers, but does not understand the question: name another server in \(file)"
        case "closed"?: return "start the name server at \(address), or name another one in \(file)"
        case "NOERROR"?, "NXDOMAIN"?: return "ask again: \(address) answers now"
        default: return "check the name server at \(address), or name another one in \(file)"
        }
    }

    /// The option of `ip` for IPv6.
    private var familyOption: String { decisive?.isIPv6 == true ? "-6 " : "" }

    private var refusalRemedy: String {
        if let rule, ruleRefused {
            return caution("rule \(rule.priority) refuses")
                + "delete it with `ip \(familyOption)rule del priority \(rule.priority) \(rule.selector) \(rule.action)`,"
                + " or let it spare \(subject)"
        }
        let type = path.reason == .prohibited ? "prohibit" : path.reason == .blackholed ? "blackhole" : "unreachable"
        guard let route, isRouteRefusing, let table = route.table else {
            return
                "delete the route that `ip \(familyOption)route show table all type \(type)` shows, or add a narrower one to"
                + " \(subject)"
        }
        // If the next hop object of a route rejects the packets, `ip` is given no route type.
        let kind = route.nextHopObject == nil ? type + " " : ""
        let place = "\(kind)\(route.commandPrefix) table \(NetworkEvidence.name(ofTable: table))\(route.commandMetric)"
        return caution("the route refuses")
            + "delete it with `ip \(familyOption)route del \(place)`, or add a narrower one to \(subject)"
    }

    /// A warning before the deletion of something that may be in use.
    private func caution(_ what: String) -> String {
        guard mayBeKillSwitch else { return "\(what): " }
        return
            "\(what), and may be the kill switch of a VPN, which keeps packets from leaving beside it: connect the VPN"
            + " first; only if none is meant "
    }

    /// Returns the remedy for the link that blocks the path, or for all links.
    private func linkRemedy(_ reason: NetworkPath.UnsatisfiedReason) -> String {
        guard obstacle?.link != nil || links.count == 1, let link = culprit else {
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
            return "\(name) is dormant: it waits for something outside, such as a login to the switch (802.1X)"
        case _ where link.hasPorts:
            return "\(name) has no carrier, for none of its ports has one: mend a port, or add one with"
                + " `ip link set PORT master \(name.shellWord)`"
        default: return "\(name) has no carrier: \(Self.carrierAdvice(link.interface.type))"
        }
    }

    private static func carrierAdvice(_ type: InterfaceType) -> String {
        switch type {
        case .ethernet: "the cable or the switch port is down"
        case .wiFi: "it has not joined a Wi-Fi network"
        case .wwan: "the modem is not connected"
        case .wiredVirtual: "the other end of the virtual cable is down or gone"
        case .tunnel: "the program that serves the tunnel is not running, or not connected"
        case .loopback, .other: "what it is connected to is down or gone"
        }
    }

    private var remedyBelow: String {
        let name = (tunnel ?? links.first)?.interface.name ?? "the tunnel"
        guard let remote = tunnel?.tunnelRemote else { return "mend what \(name) runs over" }
        return "mend the way to the far end of \(name): `reachability why \(remote)` tells what is wrong there"
    }

    private var sourceRemedy: String {
        if let bound = target.constraints.source {
            return
                "bind to an address of this machine instead of \(bound), or give it that one: `ip address` shows those it has"
        }
        if let ipv6Trouble { return ipv6Trouble.remedy }
        let name = links.first?.interface.name ?? "NAME"
        let kind = decisive?.isIPv6 == true ? "IPv6" : "IPv4"
        return
            "give \(name) an \(kind) address that answers can come back to: `ip address add ADDRESS/LENGTH dev \(name.shellWord)`"
    }

    private var interfaceRemedy: String {
        if let missingZone { return "name an interface there is instead of \(missingZone): `ip link` shows them" }
        if let decisive, decisive.isIPv6, decisive.isLinkLocal, decisive.zone == nil {
            return "name the interface that \(decisive) is meant on: \(decisive)%eth0, for example"
        }
        return links.isEmpty
            ? "plug in a network device or load its driver, or give the network namespace an interface"
            : "try again: the interface has just gone"
    }
}

extension EvidenceFacts {
    /// An obstacle for IPv6 on a link.
    enum IPv6Trouble {
        case smallMTU(String, UInt32)
        case disabled(String)
        case duplicate(String, String)

        /// A short text.
        var summary: String {
            switch self {
            case .smallMTU(let name, let mtu): "the MTU of \(name) is \(mtu), and IPv6 needs 1280"
            case .disabled(let name): "IPv6 is switched off on \(name) (disable_ipv6)"
            case .duplicate(let name, let address): "another machine has \(address) of \(name) (dadfailed)"
            }
        }

        /// The remedy in one sentence.
        var remedy: String {
            switch self {
            case .smallMTU(let name, _):
                "raise it with `ip link set \(name.shellWord) mtu 1280`, then add the IPv6 addresses and routes again"
            case .disabled(let name):
                "switch it on with `sysctl -w \("net.ipv6.conf.\(name.sysctlName).disable_ipv6=0".shellWord)`, then add the addresses and"
                    + " routes again"
            case .duplicate(let name, let address):
                "find out who else has it, or give \(name) another address; `ip address del \(address) dev \(name.shellWord)` and adding"
                    + " it again checks once more"
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
