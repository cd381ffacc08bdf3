import NIOCore
import Netlink

extension SocketAddress {
    /// The bytes of the address in network order; nil if it is none of IP.
    var octets: [UInt8]? {
        ipAddress.flatMap { WireAddress(String($0.prefix { $0 != "%" }))?.bytes }
    }
}
