import LinuxPrimitives
import NetworkReachability

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
                add("\(gateway)", "an echo, a datagram to a closed port", 5)
                add("\(gateway)", "a datagram towards \(line.direction) that dies there (hop limit 1)", 2)
            }
            add("the second router", "a datagram towards \(line.direction) that dies there (hop limit 2)", 3)
            add(
                "\(Prober.nobody(line.prober.family))",
                "a SYN to port 80, which nobody has; a GET if somebody answers",
                1
            )
        }
        for server in site.servers ?? [] {
            add("\(server)", "DNS: ipv4only.arpa and a random name below .invalid; an echo if it is silent", 11)
            for name in options.expectedAddresses.keys.sorted() { add("\(server)", "DNS: \(name), A and AAAA", 6) }
        }
        for anchor in options.anchors {
            add(
                anchor.host,
                "GET \(anchor.url) with a random challenge, over each family; looked up in DNS if it is a name",
                40
            )
        }
        if let api = site.options.portalAPI { add(api.host, "GET \(api.url)", 20) }
        for target in targets.compactMap({ $0 }) {
            add(target.host, "\(target.content); looked up in DNS if it is a name", 20)
        }
        return lines
    }
}

extension CheckTarget {
    fileprivate var content: String {
        switch service {
        case .any: "echoes, a SYN to port 443 and one to port 80"
        case .echo: "echoes"
        case .tcp(let port): "a SYN to port \(port), an echo if nobody answers"
        case .web(let url): "GET \(url), an echo if nobody answers"
        case .dns(let name): "DNS: \(name), an echo if nobody answers"
        }
    }
}
