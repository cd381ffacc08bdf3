extension EvidenceFacts {
    /// A route that would do, and why the kernel does not take it.
    struct PassedOver {
        enum Cause {
            /// A route of type throw ends the search in its table.
            case isThrown
            /// It has expired, and waits to be cleaned up (RFC 4861).
            case hasExpired
            /// The rule passes over routes of its length.
            case isSuppressed
            /// No rule asks its table, or only this one, which is for other packets.
            case isNotAsked(String?)
        }

        let route: NetworkEvidence.Route
        let cause: Cause
        let rulePriority: UInt32?

        /// In a few words.
        var summary: String {
            let rule = rulePriority.map { "rule \($0)" } ?? "a rule"
            switch cause {
            case .isThrown: return "\(route) (\(rule)) sends on to later rules, which have none"
            case .hasExpired: return "\(route) has expired"
            case .isSuppressed: return "\(rule) passes over \(route) (suppress_prefixlength)"
            case .isNotAsked(nil): return "no rule asks the table of \(route)"
            case .isNotAsked(let other?): return "\(route) is for other packets only (rule \(other))"
            }
        }

        /// What would let the kernel take it.
        func remedy(_ option: String) -> String {
            let table = route.table.map { " table \(NetworkEvidence.name(ofTable: $0))" } ?? ""
            let prefix = route.commandPrefix
            switch cause {
            case .isThrown:
                return
                    "delete it with `ip \(option)route del throw \(prefix)\(table)`, or add a route to a table that is asked"
                    + " later"
            case .hasExpired:
                let via = route.legs.first?.gateway.map { " via \($0)" } ?? ""
                let device = route.legs.first?.interface.map { " dev \($0.shellWord)" } ?? ""
                return "find out why the router advertises no more, or make it last with"
                    + " `ip \(option)route replace \(prefix)\(via)\(device)\(table)\(route.commandMetric)`"
            case .isSuppressed:
                return "add a rule that asks table \(route.table ?? 0) without suppress_prefixlength:"
                    + " `ip \(option)rule add lookup \(route.table ?? 0)`"
            case .isNotAsked(nil): return "let a rule ask the table: `ip \(option)rule add lookup \(route.table ?? 0)`"
            case .isNotAsked(_?):
                return
                    "add a route to table main, or let the rule be for these packets too (`--mark` asks as marked ones)"
            }
        }
    }

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
