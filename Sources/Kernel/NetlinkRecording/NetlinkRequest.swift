import CLinux
package import LinuxPrimitives
import Netlink

/// What a request to the kernel is about, for people, and for finding the nearest of several.
package struct NetlinkRequest: Hashable, Sendable {
    /// What is asked for, without whatever else narrows the question.
    package enum Subject: Hashable, Sendable {
        case route(WireAddress, wantsEntry: Bool)
        case link(UInt32)
        case allLinks
        case nextHop
        case other
    }

    package let subject: Subject

    /// - Parameter request: head and body; what cannot be made out is `.other`.
    package init(_ request: [UInt8]) {
        subject = request.withUnsafeBytes { bytes in
            guard let header = MessageHeader(bytes) else { return .other }
            let body = bytes.bytes(from: MessageHeader.size, length: header.length - MessageHeader.size)
            switch header.kind {
            case .getRoute: return .route(body)
            case .getLink where header.flags & UInt16(NLM_F_DUMP) == UInt16(NLM_F_DUMP): return .allLinks
            case .getLink: return .link(body.load(UInt32.self, at: 4) ?? 0)
            case .getNextHop: return .nextHop
            default: return .other
            }
        }
    }

    /// What the kernel says when there is no such thing.
    package var absence: SystemError {
        switch subject {
        case .route: .networkUnreachable
        case .link, .allLinks: .noDevice
        case .nextHop, .other: .noEntry
        }
    }
}

extension NetlinkRequest.Subject {
    fileprivate static func route(_ body: UnsafeRawBufferPointer) -> NetlinkRequest.Subject {
        guard let head = body.load(rtmsg.self, at: 0) else { return .other }
        for (type, value) in Attributes(body.bytes(from: MemoryLayout<rtmsg>.size)) where type == Int(RTA_DST.rawValue)
        {
            guard let address = WireAddress(bytes: value) else { break }
            return .route(address, wantsEntry: head.rtm_flags & UInt32(RTM_F_FIB_MATCH) != 0)
        }
        return .other
    }
}

extension NetlinkRequest: CustomStringConvertible {
    package var description: String {
        switch subject {
        case .route(let address, let wantsEntry):
            wantsEntry ? "the route entry for \(address)" : "the route to \(address)"
        case .link(let index): index == 0 ? "a link by its name" : "link \(index)"
        case .allLinks: "all links"
        case .nextHop: "a next hop"
        case .other: "something else"
        }
    }
}
