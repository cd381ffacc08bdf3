import CLinux

@testable import LinuxSupport
@testable import Netlink

/// Messages about routes as the kernel writes them, and as it does not.
enum RouteMessage {
    /// RTM_NEWROUTE or RTM_DELROUTE. IPv4 names its table before its destination.
    static func route(
        _ prefix: AddressPrefix,
        kind: MessageKind = .newRoute,
        family: UInt8? = nil,
        length: UInt8? = nil,
        destination: [UInt8]? = nil
    ) -> [UInt8] {
        var builder = RequestBuilder()
        builder.begin(kind, sequence: 0)
        var head = rtmsg()
        head.rtm_family = family ?? prefix.family.rawValue
        head.rtm_dst_len = length ?? UInt8(prefix.length)
        builder.append(head)
        if prefix.family == .ipv4 { builder.append(attribute: Int(RTA_TABLE.rawValue), UInt32(254)) }
        let destination = destination ?? (prefix.length == 0 ? nil : prefix.address.bytes)
        if let destination { builder.append(attribute: Int(RTA_DST.rawValue), destination) }
        builder.append(attribute: Int(RTA_OIF.rawValue), UInt32(2))
        return builder.bytes
    }

    /// Another kind of message with the body of a route.
    static func other(_ kind: UInt16) -> [UInt8] {
        route(AddressPrefix(WireAddress(ipv4: 0), length: 8), kind: MessageKind(rawValue: kind))
    }
}
