import LinuxSupport
import NIOCore

/// Lets no connection be made to an address of this machine or of a link: a certificate of a stranger's could else have this program
/// knock at services that trust whoever is here.
///
/// It sees each address at the moment of the connection, after the name service, so no name leads around it.
final class LocalAddressGuard: ChannelOutboundHandler {
    typealias OutboundIn = Any

    func connect(context: ChannelHandlerContext, to address: SocketAddress, promise: EventLoopPromise<Void>?) {
        guard Self.isLocal(address) else { return context.connect(to: address, promise: promise) }
        promise?.fail(Refusal())
    }

    /// Why there is no connection.
    struct Refusal: Error, CustomStringConvertible {
        let description =
            "it is a loopback, link-local or multicast address, and such are not asked"
    }

    /// Loopback, link-local, unspecified (which leads to loopback) and multicast addresses (RFC 6890), also as IPv4 within IPv6.
    /// Private ones are not local: networks of their own have authorities of their own there.
    static func isLocal(_ address: SocketAddress) -> Bool {
        switch address {
        case .v4: return address.octets.map(isLocalV4) ?? true
        case .v6:
            guard let octets = address.octets else { return true }
            // ::/96 has the unspecified and the loopback address too; ::ffff:0:0/96 and 64:ff9b::/96 have IPv4 behind them.
            let prefix = Array(octets.prefix(12))
            let zeros = [UInt8](repeating: 0, count: 10)
            if prefix == zeros + [0, 0] { return true }
            if prefix == zeros + [0xff, 0xff] || prefix == [0, 0x64, 0xff, 0x9b] + zeros.prefix(8) {
                return isLocalV4(Array(octets.suffix(4)))
            }
            return octets[0] == 0xff || octets[0] == 0xfe && octets[1] & 0xc0 == 0x80
        case .unixDomainSocket: return true
        }
    }

    private static func isLocalV4(_ octets: [UInt8]) -> Bool {
        octets[0] == 0 || octets[0] == 127 || octets[0] == 169 && octets[1] == 254 || octets[0] >= 224
    }
}

extension SocketAddress {
    /// The bytes of the address in network order; nil if it is none of IP.
    fileprivate var octets: [UInt8]? {
        ipAddress.flatMap { WireAddress(String($0.prefix { $0 != "%" }))?.bytes }
    }
}
