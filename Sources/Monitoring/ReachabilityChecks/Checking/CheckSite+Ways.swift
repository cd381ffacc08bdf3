import LinuxSupport
import NetworkReachability

extension CheckSite {
    /// An address of a host, and the prober that sends to it.
    struct Way: Sendable {
        let address: IPAddress
        let prober: Prober
        let path: NetworkPath
    }

    /// The maximum number of addresses of a host that are tried. A load balancer has up to eight of each family.
    private static let wayLimit = 8

    /// The delay before the next address is tried too (RFC 8305, section 8).
    static let nextAddress = Duration.milliseconds(250)

    /// Returns the addresses of a host in the sequence in which they are tried. Queries the kernel on the calling thread; sends nothing.
    ///
    /// Addresses without a path do not count against the limit. The families take turns, beginning with the family of the first address
    /// (RFC 8305, section 4), so that one dead family does not use up all attempts.
    ///
    /// - Returns: The addresses that the kernel has a path to; if there are none, the first address alone.
    func ways(to addresses: [IPAddress]) -> [Way] {
        let addresses = addresses.filter { options.addressFamily ?? $0.wire.family == $0.wire.family }
        let ways = zip(addresses, paths(to: addresses)).compactMap { address, path -> Way? in
            guard let path else {
                return (try? prober(to: address)).map { Way(address: address, prober: $0.prober, path: $0.path) }
            }
            return (try? prober(to: address, along: path)).map { Way(address: address, prober: $0, path: path) }
        }
        let open = Self.interleaved(ways.filter(\.path.status.isReachable))
        return open.isEmpty ? Array(ways.prefix(1)) : Array(open.prefix(Self.wayLimit))
    }

    private static func interleaved(_ ways: [Way]) -> [Way] {
        let first = ways.filter { $0.prober.family == ways.first?.prober.family }
        let second = ways.filter { $0.prober.family != ways.first?.prober.family }
        let pairs = zip(first, second).flatMap { [$0, $1] }
        return pairs + first.dropFirst(second.count) + second.dropFirst(first.count)
    }
}
