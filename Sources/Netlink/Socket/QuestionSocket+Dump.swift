import CNetlink
import Glibc

/// Asking for all there is of something.
extension QuestionSocket {
    /// So often a dump is asked for again that changes came into; then what came last counts: where changes never end, no
    /// answer is better.
    private static let dumpLimit = 8

    /// All that the kernel has of one kind, in its order, read until no change came into it (NLM_F_DUMP_INTR).
    ///
    /// - Parameters:
    ///   - decode: what makes a value of a message's body; nil leaves it out.
    ///   - appendBody: appends what follows the head of the request.
    mutating func dump<Value>(
        _ kind: MessageKind,
        as decode: (UnsafeRawBufferPointer) -> Value?,
        _ appendBody: (inout RequestBuilder) -> Void
    ) throws(NetlinkError) -> [Value] {
        var values: [Value] = []
        for _ in 0..<Self.dumpLimit {
            values = []
            let ending = try stream(kind, appendBody) { body in
                if let value = decode(body) { values.append(value) }
                return true
            }
            if ending != .interrupted { break }
        }
        return values
    }

    /// Every IPv4 and IPv6 address of the namespace.
    mutating func addresses() throws(NetlinkError) -> [InterfaceAddress] {
        try dump(.getAddress, as: InterfaceAddress.init(body:)) { request in
            request.append(ifaddrmsg(ifa_family: 0, ifa_prefixlen: 0, ifa_flags: 0, ifa_scope: 0, ifa_index: 0))
        }
    }

    /// How a dump came to its end.
    enum DumpEnding: Hashable {
        case complete
        /// Something changed meanwhile.
        case interrupted
        /// Nobody wanted the rest. This socket can ask for no other dump: the kernel waits with the rest until it is closed.
        case abandoned
    }

    /// Hands over one message after the other as they come, for as long as `take` says that it wants more.
    mutating func stream(
        _ kind: MessageKind,
        _ appendBody: (inout RequestBuilder) -> Void,
        _ take: (UnsafeRawBufferPointer) -> Bool
    ) throws(NetlinkError) -> DumpEnding {
        var request = RequestBuilder()
        let sequence = nextSequence()
        request.begin(kind, flags: NLM_F_DUMP, sequence: sequence)
        appendBody(&request)
        try socket.send(request.bytes)
        var isInterrupted = false
        var failure: SystemError?
        var ending: DumpEnding?
        while ending == nil {
            try receive(isMany: false) { datagram in
                var rest = datagram
                while ending == nil, let header = MessageHeader(rest) {
                    let body = rest.bytes(from: MessageHeader.size, length: header.length - MessageHeader.size)
                    rest = rest.bytes(from: header.length.alignedToAttribute)
                    guard header.port == socket.port, header.sequence == sequence else { continue }
                    if header.isInterrupted { isInterrupted = true }
                    switch header.kind {
                    case .error, .done:
                        failure = SystemError(dumpEnd: body)
                        ending = isInterrupted ? .interrupted : .complete
                    default:
                        if !take(body) { ending = .abandoned }
                    }
                }
            }
        }
        if let failure { throw NetlinkError("list what the kernel has", failure) }
        return ending ?? .complete
    }

    /// Lets the kernel apply what a dump is restricted to, and leave out the rest (Linux 4.20); an older one sends all.
    ///
    /// C counterpart: NETLINK_GET_STRICT_CHK of `netlink(7)`.
    func demandStrictness() {
        var isWanted: CInt = 1
        let length = socklen_t(MemoryLayout<CInt>.size)
        _ = setsockopt(descriptor, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &isWanted, length)
    }
}

extension SystemError {
    /// The error number that ends a dump; nil when it is 0, or missing as in older kernels. What a dump is restricted to may
    /// not exist, and a kernel may be built without what is asked for, which are empty answers.
    fileprivate init?(dumpEnd body: UnsafeRawBufferPointer) {
        let number = -(body.load(Int32.self, at: 0) ?? 0)
        self.init(rawValue: number)
        if number <= 0 || self == .noEntry || self == .notSupported { return nil }
    }
}
