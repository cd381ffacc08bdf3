import NetworkReachability

extension EvidenceFacts {
    /// What keeps IPv6 off a link.
    enum IPv6Trouble {
        case smallMTU(String, UInt32)
        case disabled(String)
        case duplicate(String, String)

        /// In a few words.
        var summary: String {
            switch self {
            case .smallMTU(let name, let mtu): "the MTU of \(name) is \(mtu), and IPv6 needs 1280"
            case .disabled(let name): "IPv6 is switched off on \(name) (disable_ipv6)"
            case .duplicate(let name, let address): "another machine has \(address) of \(name) (dadfailed)"
            }
        }

        /// What would mend it.
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
    /// The prefix, as `ip route` takes it; the family is an option.
    var commandPrefix: String { prefix.map { $0.hasSuffix("/0") ? "default" : $0 } ?? "" }

    /// The metric, where there is one.
    var commandMetric: String { metric == 0 ? "" : " metric \(metric)" }
}

extension String {
    /// As one word of a POSIX shell: an interface may have any name, and what is advised is pasted.
    var shellWord: String {
        let isPlain = unicodeScalars.allSatisfy {
            $0.isASCII && ($0.properties.isAlphabetic || "0123456789:._-=".unicodeScalars.contains($0))
        }
        return isPlain
            ? self : "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }

    /// A dot in the name of an interface is a slash to `sysctl(8)`.
    fileprivate var sysctlName: String { String(map { $0 == "." ? "/" : $0 }) }
}
