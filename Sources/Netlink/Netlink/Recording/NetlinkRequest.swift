import CLinux
package import LinuxSupport

/// The subject of a request to the kernel, for messages and to find similar requests.
package struct NetlinkRequest: Hashable, Sendable {
    /// The requested object, without other conditions of the request.
    package enum Subject: Hashable, Sendable {
        case route(WireAddress, wantsEntry: Bool)
        case link(UInt32)
        case allLinks
        case nextHop
        case other
    }

    package let subject: Subject

    /// Decodes a request.
    ///
    /// - Parameter request: The header and the body. The subject of a request that cannot be decoded is `.other`.
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

    /// The kernel's error if the object does not exist.
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
        guard let head = body.load(rtmsg.self, at: 0), let destination = AddressPrefix(routeBody: body) else {
            return .other
        }
        return .route(destination.address, wantsEntry: head.rtm_flags & UInt32(RTM_F_FIB_MATCH) != 0)
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
        case .other: "another object"
        }
    }
}

/// A transport whose replies come from a recording. Requests are encoded and replies decoded as usual.
package struct PlayedTransport: NetlinkTransport {
    private let reply: @Sendable ([UInt8]) throws(NetlinkError) -> [UInt8]

    /// Creates a transport.
    ///
    /// - Parameter reply: Returns the messages that answer a request, with their headers. The sequence number of the
    ///   request is zero, so that equal requests are equal bytes. Called on any thread.
    package init(_ reply: @escaping @Sendable ([UInt8]) throws(NetlinkError) -> [UInt8]) {
        self.reply = reply
    }

    package func exchange(
        _ requests: [UInt8],
        first: UInt32,
        count: Int,
        _ take: (Int, UnsafeRawBufferPointer) -> Void
    ) throws(NetlinkError) {
        for (index, request) in StoredMessages.split(requests).enumerated() {
            let answer = try reply(StoredMessages.withoutSequence(request))
            answer.withUnsafeBytes { for (_, message) in NetlinkMessages($0) { take(index, message) } }
        }
    }
}

/// Receives the messages of netlink sockets before they are decoded. Called on the thread that uses the socket, which
/// waits until the call returns.
package protocol NetlinkTap: Sendable {
    /// Receives a message of the event socket. `port` is the netlink port of the sender, 0 for the kernel. The message
    /// is complete up to `EventSocket.tappedLimit` bytes.
    func received(_ message: [UInt8], from port: UInt32)

    /// Reports that the event socket lost messages because its buffer was full (ENOBUFS).
    func lost()

    /// Receives one request and the messages that answered it, with headers, or the error.
    func asked(_ request: [UInt8], _ answer: Result<[UInt8], NetlinkError>)
}

/// A transport that passes requests and answers to a tap.
struct TappedTransport: NetlinkTransport {
    private let transport: any NetlinkTransport
    private let tap: any NetlinkTap

    init(_ transport: any NetlinkTransport, _ tap: any NetlinkTap) {
        self.transport = transport
        self.tap = tap
    }

    func exchange(
        _ requests: [UInt8],
        first: UInt32,
        count: Int,
        _ take: (Int, UnsafeRawBufferPointer) -> Void
    ) throws(NetlinkError) {
        var answers = [[UInt8]](repeating: [], count: count)
        var failure: NetlinkError?
        do throws(NetlinkError) {
            try transport.exchange(requests, first: first, count: count) { index, message in
                answers[index] += message
                while answers[index].count & 3 != 0 { answers[index].append(0) }
                take(index, message)
            }
        } catch {
            failure = error
        }
        for (request, answer) in zip(StoredMessages.split(requests), answers) {
            tap.asked(request, failure.map(Result.failure) ?? .success(answer))
        }
        if let failure { throw failure }
    }
}
