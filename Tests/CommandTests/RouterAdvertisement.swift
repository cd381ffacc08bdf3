import Glibc
import NetworkLab

/// A router advertisement with the URI of a portal's server (option 37, RFC 8910), as a router sends it to all; radvd cannot.
enum RouterAdvertisement {
    /// Sends one from the calling thread's namespace; the kernel adds the checksum. It makes nobody a router: its lifetime is zero.
    static func send(portal uri: String, through interface: String) throws {
        let text = Array(uri.utf8)
        let length = (2 + text.count + 7) / 8
        let filling = [UInt8](repeating: 0, count: length * 8 - 2 - text.count)
        let bytes =
            [134, 0, 0, 0, 64, 0, 0, 0] + [UInt8](repeating: 0, count: 8) + [37, UInt8(length)] + text + filling
        let raw = LabDescriptor(try check("socket", socket(AF_INET6, CInt(SOCK_RAW.rawValue), CInt(IPPROTO_ICMPV6))))
        var hops: CInt = 255
        let size = socklen_t(MemoryLayout<CInt>.size)
        try check("setsockopt", setsockopt(raw.number, CInt(IPPROTO_IPV6), IPV6_MULTICAST_HOPS, &hops, size))
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_scope_id = if_nametoindex(interface)
        guard inet_pton(AF_INET6, "ff02::1", &address.sin6_addr) == 1 else { throw LabError("no address") }
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                sendto(raw.number, bytes, bytes.count, 0, address, socklen_t(MemoryLayout<sockaddr_in6>.size))
            }
        }
        try check("sendto", CInt(code))
    }
}
