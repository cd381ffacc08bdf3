import LinuxSupport
import NetworkReachability
import ServerTrustNIO

/// One line of what a check would send, and to whom.
public struct CheckTraffic: Hashable, Sendable, CustomStringConvertible {
    /// Who gets it: an address, or a host that is looked up first.
    public let receiver: String
    /// What is sent, in a few words.
    public let content: String
    /// How many packets that is at most, without answers.
    public let packets: Int

    /// One line for people, safe to print.
    public var description: String {
        "\(receiver.printable): \(content.printable), at most \(packets) packet\(packets == 1 ? "" : "s")"
    }
}

extension NetworkCheck {
    /// What a check of these targets would send to whom as the network is now, without sending any of it.
    package static func traffic(
        of targets: [CheckTarget?],
        _ options: CheckOptions
    ) throws(CheckError) -> [CheckTraffic] {
        let site = try CheckSite(options)
        var lines: [CheckTraffic] = []
        func add(_ receiver: String, _ content: String, _ packets: Int) {
            lines.append(CheckTraffic(receiver: receiver, content: content, packets: packets))
        }
        for line in site.lines {
            if let gateway = line.path.gateway {
                let echo = "an echo (a SYN to port 33434 without the permission)"
                add("\(gateway)", "\(echo), a datagram to a closed port", 4)
                add("\(gateway)", "a datagram towards \(line.direction) that dies there (hop limit 1)", 1)
            }
            add("the second router", "a datagram towards \(line.direction) that dies there (hop limit 2)", 2)
            if let address = line.unassigned {
                add("\(address)", "a SYN to port 80, which nobody has; a GET if somebody answers", 6)
            }
        }
        if let end = site.lines.lazy.compactMap(\.prober.line.tunnelEnd).first {
            let way = "the far end of the tunnel, \(end)"
            add(way, "\(Self.echo), and datagrams towards it that die at the first and second router of the way", 8)
        }
        for server in site.servers ?? [] {
            let names = "ipv4only.arpa, A and AAAA, and a random name below .invalid"
            add("\(server)", "DNS: \(names); over TCP if cut off", 27)
            add("\(server)", "if it is silent: \(Self.echo), and a SYN to port 53", 4)
            for name in options.expectedAddresses.keys.sorted() { add("\(server)", "DNS: \(name), A and AAAA", 18) }
        }
        if !options.isPrivate {
            add("the gateway or a neighbour", "GET / of port 80, if DNS gives its address for that random name", 10)
        }
        for anchor in options.anchors {
            let request = "GET \("\(anchor.url)".queryMasked) with a random challenge, over each family; \(Self.lookup)"
            add(anchor.host, "\(request); \(Self.echo) if it is silent", 44)
        }
        if let api = site.options.portalAPI { add(api.host, "GET \("\(api.url)".queryMasked); \(Self.lookup)", 20) }
        for target in targets.compactMap({ $0 }) {
            add(target.host, "\(target.content); \(Self.lookup)", 40)
        }
        return lines
    }

    private static let lookup = "looked up in DNS if it is a name"
    /// Also in place of it, for those who may not send one.
    fileprivate static let echo = "an echo (a datagram to port 33434 without the permission)"
}

extension CheckTarget {
    fileprivate var content: String {
        switch service {
        case .any: "echoes (datagrams to port 33434 without the permission), a SYN to port 443 and one to port 80"
        case .echo: "echoes (datagrams and a SYN to port 33434 without the permission)"
        case .tcp(let port): "a SYN to port \(port), \(NetworkCheck.echo) if nobody answers"
        case .web: "GET \(text), \(NetworkCheck.echo) if nobody answers"
        case .handshake(let url): "a handshake of TLS with port \(url.port), \(NetworkCheck.echo) if nobody answers"
        case .name: "nothing"
        case .dns(let name): "DNS: \(name), \(NetworkCheck.echo) if nobody answers"
        }
    }
}
