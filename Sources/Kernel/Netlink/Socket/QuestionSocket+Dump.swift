import CLinux
import Glibc
import LinuxPrimitives

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
        var answers: Result<[Value], SystemError> = .success([])
        for _ in 0..<Self.dumpLimit {
            var request = RequestBuilder()
            request.begin(kind, flags: NLM_F_DUMP, sequence: nextSequence())
            appendBody(&request)
            var values: [Value] = []
            var failure: SystemError?
            try exchange(request, count: 1) { _, answer in
                switch answer {
                case .success(let body): if let value = decode(body) { values.append(value) }
                case .failure(let cause): failure = cause
                }
            }
            answers = failure.map(Result.failure) ?? .success(values)
            if !wasInterrupted { break }
        }
        switch answers {
        case .success(let values): return values
        // A kernel may be built without what is asked for.
        case .failure(.noEntry), .failure(.notSupported): return []
        case .failure(let cause): throw NetlinkError("list what the kernel has", cause)
        }
    }

    /// Every IPv4 and IPv6 address of the namespace.
    mutating func addresses() throws(NetlinkError) -> [InterfaceAddress] {
        try dump(.getAddress, as: InterfaceAddress.init(body:)) { request in
            request.append(ifaddrmsg(ifa_family: 0, ifa_prefixlen: 0, ifa_flags: 0, ifa_scope: 0, ifa_index: 0))
        }
    }

    /// Hands over one message of a dump after the other as they come, for as long as `take` says that it wants more. Then this
    /// socket can ask for no other dump: the kernel waits with the rest until it is closed.
    mutating func stream(
        _ kind: MessageKind,
        _ appendBody: (inout RequestBuilder) -> Void,
        _ take: (UnsafeRawBufferPointer) -> Bool
    ) throws(NetlinkError) {
        var request = RequestBuilder()
        let sequence = nextSequence()
        request.begin(kind, flags: NLM_F_DUMP, sequence: sequence)
        appendBody(&request)
        try socket.send(request.bytes)
        var failure: SystemError?
        var isOver = false
        while !isOver {
            try receive(isMany: false) { datagram in
                var rest = datagram
                while !isOver, let header = MessageHeader(rest) {
                    let body = rest.bytes(from: MessageHeader.size, length: header.length - MessageHeader.size)
                    rest = rest.bytes(from: header.length.alignedToAttribute)
                    guard header.port == socket.port, header.sequence == sequence else { continue }
                    switch header.kind {
                    case .error, .done:
                        failure = SystemError(dumpEnd: body)
                        isOver = true
                    default:
                        isOver = !take(body)
                    }
                }
            }
        }
        // What a dump is restricted to may not exist.
        guard let failure, failure != .noEntry else { return }
        throw NetlinkError("list what the kernel has", failure)
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
    /// The error number that ends a dump; nil when it is 0, or missing as in older kernels.
    init?(dumpEnd body: UnsafeRawBufferPointer) {
        let number = -(body.load(Int32.self, at: 0) ?? 0)
        if number <= 0 { return nil }
        self.init(rawValue: number)
    }
}
