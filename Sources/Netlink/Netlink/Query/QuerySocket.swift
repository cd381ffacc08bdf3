import CLinux
import Glibc
import LinuxSupport

/// Sends queries to the kernel or a recording. Encodes the requests and decodes the answers.
package struct QuerySocket: Sendable {
    private let transport: any NetlinkTransport
    private var sequence: UInt32 = 0
    /// The last message about each link, and its decoded answer. A message has about a thousand bytes and rarely
    /// changes.
    private var links: [UInt32: (body: [UInt8], answer: KernelResponse)] = [:]
    private static let linkLimit = 8

    /// The maximum number of queries in a round. Their answers usually fit into the smallest receive buffer.
    private static let roundLimit = 64
    /// The maximum number of attempts of a dump that is interrupted by changes. After that, the last result is used.
    private static let dumpLimit = 8

    package init(_ transport: any NetlinkTransport) {
        self.transport = transport
    }

    /// Returns one answer per query, in the same order. Queries with a single answer are sent together in rounds, and
    /// the kernel answers them one after the other.
    package mutating func query(_ queries: [KernelQuery]) throws(NetlinkError) -> [KernelResponse] {
        var answers: [KernelResponse] = []
        answers.reserveCapacity(queries.count)
        var rest = queries[...]
        while let first = rest.first {
            if let answer = try KernelResponse(dumpOf: first, from: &self) {
                answers.append(answer)
                rest = rest.dropFirst()
            } else {
                let round = rest.prefix(Self.roundLimit).prefix { !$0.isDump }
                answers += try queryInParts(round)
                rest = rest.dropFirst(round.count)
            }
        }
        return answers
    }

    /// Sends the queries again in smaller rounds if the answers do not fit into the receive buffer together.
    private mutating func queryInParts(_ round: ArraySlice<KernelQuery>) throws(NetlinkError) -> [KernelResponse] {
        do throws(NetlinkError) {
            return try query(round: round)
        } catch {
            guard error.cause == .noBufferSpace, round.count > 1 else { throw error }
            let middle = round.startIndex + round.count / 2
            return try queryInParts(round[..<middle]) + queryInParts(round[middle...])
        }
    }

    private mutating func query(round: ArraySlice<KernelQuery>) throws(NetlinkError) -> [KernelResponse] {
        var request = RequestBuilder(capacity: round.count * 64)
        let first = sequence &+ 1
        for query in round { request.append(query, sequence: nextSequence()) }
        var answers = [KernelResponse?](repeating: nil, count: round.count)
        var failure: NetlinkError?
        try transport.exchange(request.bytes, first: first, count: round.count) { index, message in
            do throws(NetlinkError) {
                answers[index] = try answer(message, to: round[round.startIndex + index])
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        var complete: [KernelResponse] = []
        complete.reserveCapacity(round.count)
        for (answer, query) in zip(answers, round) {
            if let answer { complete.append(answer) } else { complete.append(try KernelResponse(nil, to: query)) }
        }
        return complete
    }

    private mutating func answer(
        _ message: UnsafeRawBufferPointer,
        to query: KernelQuery
    ) throws(NetlinkError) -> KernelResponse {
        let body = Self.body(message)
        guard case .link(let index) = query, case .success(let bytes) = body else {
            return try KernelResponse(body, to: query)
        }
        if let known = links[index], bytes.equals(known.body) { return known.answer }
        let answer = try KernelResponse(body, to: query)
        if links.count == Self.linkLimit { links = [:] }
        links[index] = (Array(bytes), answer)
        return answer
    }

    private mutating func nextSequence() -> UInt32 {
        sequence &+= 1
        return sequence
    }

    /// Returns the body of an answer, or the error that it contains.
    private static func body(_ message: UnsafeRawBufferPointer) -> Result<UnsafeRawBufferPointer, SystemError> {
        let body = message.bytes(from: MessageHeader.size)
        guard MessageHeader(message)?.kind == .error else { return .success(body) }
        return .failure(SystemError(rawValue: -(body.load(Int32.self, at: 0) ?? -EBADMSG)))
    }
}

extension UnsafeRawBufferPointer {
    /// C counterpart: `memcmp(3)`.
    fileprivate func equals(_ other: [UInt8]) -> Bool {
        other.withUnsafeBytes { other in
            guard other.count == count, let one = baseAddress, let other = other.baseAddress else { return false }
            return memcmp(one, other, count) == 0
        }
    }
}

// MARK: - Dumps

extension QuerySocket {
    /// Returns all objects of the requested type in the kernel's order. Repeats the dump if a change interrupted it
    /// (NLM_F_DUMP_INTR).
    ///
    /// - Parameter decode: Decodes the body of a message; nil skips it.
    mutating func dump<Value>(
        _ query: KernelQuery,
        as decode: (UnsafeRawBufferPointer) -> Value?
    ) throws(NetlinkError) -> [Value] {
        var (values, failure): ([Value], SystemError?) = ([], nil)
        for _ in 0..<Self.dumpLimit {
            let number = nextSequence()
            var request = RequestBuilder()
            request.append(query, sequence: number)
            (values, failure) = ([], nil)
            var isInterrupted = false
            try transport.exchange(request.bytes, first: number, count: 1) { _, message in
                guard let header = MessageHeader(message) else { return }
                let body = message.bytes(from: MessageHeader.size)
                isInterrupted = isInterrupted || header.isInterrupted
                switch header.kind {
                case .error, .done: failure = SystemError(dumpEnd: body)
                default: if let value = decode(body) { values.append(value) }
                }
            }
            if !isInterrupted { break }
        }
        switch failure {
        case nil: return values
        // A kernel may be built without the requested subsystem.
        case .noEntry, .notSupported: return []
        case .some(let cause): throw NetlinkError("read a netlink dump", cause)
        }
    }
}

extension SystemError {
    /// Creates the error at the end of a dump; nil if it is 0, or missing as in older kernels.
    init?(dumpEnd body: UnsafeRawBufferPointer) {
        let number = -(body.load(Int32.self, at: 0) ?? 0)
        if number <= 0 { return nil }
        self.init(rawValue: number)
    }
}

/// Sends requests to the kernel or a recording, and receives the answers. Not thread-safe.
package protocol NetlinkTransport: Sendable {
    /// Sends requests, and calls `take` for each message that answers one, with its header and the position of its
    /// request. Returns when all requests are answered.
    ///
    /// - Parameters:
    ///   - requests: The requests, one after the other, with ascending sequence numbers from `first`.
    ///   - count: The number of requests.
    func exchange(
        _ requests: [UInt8],
        first: UInt32,
        count: Int,
        _ take: (Int, UnsafeRawBufferPointer) -> Void
    ) throws(NetlinkError)
}

extension MessageHeader {
    /// A Boolean value that indicates whether the message is the last answer to a request.
    var isLast: Bool { kind == .error || kind == .done || !isMultipart }
}

/// The socket for queries. It joins no multicast group, so a storm of events cannot displace an answer.
///
/// Each exchange blocks for the few microseconds that the kernel takes to answer, or while another process holds the
/// kernel's configuration lock (RTNL).
package final class SocketTransport: NetlinkTransport, @unchecked Sendable {
    let socket: NetlinkSocket
    /// The receive buffer. Only the received bytes of each slot are touched. For a link with very many names or sources
    /// the kernel sends about ten KiB. The datagrams of a dump have at most 32 KiB.
    private let buffer = DatagramBuffer(count: 16, size: 128 << 10)

    /// Opens a socket.
    ///
    /// - Parameter family: `NETLINK_ROUTE`, or another netlink family for other subsystems.
    init(family: CInt = NETLINK_ROUTE) throws(NetlinkError) {
        socket = try NetlinkSocket(family: family)
        socket.setReceiveBuffer(bytes: 1 << 20)
        socket.setReceiveTimeout(seconds: 5)
    }

    /// Enables the kernel's filtering of dumps (Linux 4.20). Older kernels send all objects.
    ///
    /// C counterpart: NETLINK_GET_STRICT_CHK of `netlink(7)`.
    func enableStrictChecks() {
        var isWanted: CInt = 1
        let length = socklen_t(MemoryLayout<CInt>.size)
        _ = setsockopt(socket.descriptor, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &isWanted, length)
    }

    package func exchange(
        _ requests: [UInt8],
        first: UInt32,
        count: Int,
        _ take: (Int, UnsafeRawBufferPointer) -> Void
    ) throws(NetlinkError) {
        try socket.send(requests)
        var missing = count
        while missing > 0 {
            try receive { header, message in
                // Answers of an earlier, incomplete exchange have other sequence numbers.
                let index = Int(header.sequence &- first)
                guard header.port == socket.port, index < count else { return true }
                take(index, message)
                if header.isLast { missing -= 1 }
                return true
            }
        }
    }

    /// Sends the request of a dump, and calls `take` with the body of each object until it returns false. After an
    /// incomplete dump the socket cannot be used for another one.
    ///
    /// - Returns: The error at the end of the dump; nil for a complete or ended dump.
    func dump(
        _ request: [UInt8],
        sequence: UInt32 = 1,
        _ take: (UnsafeRawBufferPointer) -> Bool
    ) throws(NetlinkError) -> SystemError? {
        try socket.send(request)
        var failure: SystemError?
        var isOver = false
        while !isOver {
            try receive { header, message in
                guard header.port == socket.port, header.sequence == sequence else { return true }
                let body = message.bytes(from: MessageHeader.size)
                if header.kind == .error || header.kind == .done {
                    (failure, isOver) = (SystemError(dumpEnd: body), true)
                } else {
                    isOver = !take(body) || header.isLast
                }
                return !isOver
            }
        }
        return failure
    }

    /// Receives datagrams, waiting for the first, and calls `take` for each message until it returns false.
    private func receive(
        _ take: (MessageHeader, UnsafeRawBufferPointer) -> Bool
    ) throws(NetlinkError) {
        do throws(SystemError) {
            for index in 0..<(try buffer.receive(from: socket.descriptor)) {
                let datagram = buffer[index]
                guard datagram.sender == 0 else { continue }
                if datagram.isCutOff { throw .messageTooLong }
                for (header, message) in NetlinkMessages(datagram.bytes) {
                    guard take(header, message) else { return }
                }
            }
        } catch {
            throw NetlinkError("read the kernel's answer", error)
        }
    }
}

/// The two sockets of one network namespace: one receives events, one sends queries.
package final class RouteSockets: KernelResponder, Sendable {
    package let events: EventSocket
    private let querySocket: Locked<QuerySocket>
    private let hardware: HardwareProbe

    /// Opens both sockets in the calling thread's network namespace.
    ///
    /// - Parameter tap: Receives the messages of both sockets.
    package init(tap: (any NetlinkTap)? = nil) throws(NetlinkError) {
        events = try EventSocket(tap: tap)
        let socket = try SocketTransport()
        let transport: any NetlinkTransport = if let tap { TappedTransport(socket, tap) } else { socket }
        querySocket = Locked(QuerySocket(transport))
        hardware = HardwareProbe()
    }

    /// Returns one answer for each query, in their order. Thread-safe.
    package func query(_ queries: [KernelQuery]) throws(NetlinkError) -> [KernelResponse] {
        try queries.answers(
            netlink: { (queries) throws(NetlinkError) in
                try querySocket.withLock { socket throws(NetlinkError) in try socket.query(queries) }
            },
            hardware: { hardware.hardware(of: $0, inNamespaceOf: events) },
            peers: { hardware.peers(ofInterface: $0, inNamespaceOf: events) }
        )
    }
}
