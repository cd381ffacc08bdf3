import CNetlink
import Glibc

/// The socket that asks. Nothing is multicast to it, so no storm can push an answer out.
///
/// Every call blocks for the few microseconds the kernel takes to answer, or as long as it holds its configuration
/// lock (RTNL). Callers take turns: one question at a time.
struct QuestionSocket: ~Copyable {
    let socket: NetlinkSocket
    private let buffer: UnsafeMutableRawBufferPointer
    private var sequence: UInt32 = 0
    /// Whether something changed while the last dump was read (NLM_F_DUMP_INTR).
    private(set) var wasInterrupted = false
    /// Hears every question and answer; nil for nobody.
    private let tap: (any NetlinkTap)?
    /// Answers in the kernel's stead; nil for the kernel itself.
    private let answers: (any NetlinkAnswers)?

    /// Without the kernel: the socket is never connected.
    init(answers: any NetlinkAnswers) throws(NetlinkError) {
        socket = try NetlinkSocket()
        buffer = .allocate(byteCount: 0, alignment: 16)
        tap = nil
        self.answers = answers
    }

    /// - Parameters:
    ///   - family: `NETLINK_ROUTE`; `NETLINK_GENERIC` for the questions of a `GenericSocket`.
    ///   - tap: hears every question and answer.
    init(family: CInt = NETLINK_ROUTE, tap: (any NetlinkTap)? = nil) throws(NetlinkError) {
        self.tap = tap
        answers = nil
        socket = try NetlinkSocket(family: family)
        socket.setReceiveBuffer(bytes: 1 << 20)
        socket.setReceiveTimeout(seconds: 5)
        // A dump's datagram is at most 32 KiB long.
        buffer = .allocate(byteCount: 128 << 10, alignment: 16)
    }

    deinit {
        buffer.deallocate()
    }

    var descriptor: CInt { socket.descriptor }

    /// Asks for one device; nil when there is none. A round trip of this kind is also a barrier: what the kernel has
    /// announced before is true after it.
    mutating func link(index: UInt32) throws(NetlinkError) -> Link? {
        try link(index: index, name: nil)
    }

    mutating func link(named name: String) throws(NetlinkError) -> Link? {
        try link(index: 0, name: name)
    }

    private mutating func link(index: UInt32, name: String?) throws(NetlinkError) -> Link? {
        var request = RequestBuilder()
        request.append(link: index, name: name, sequence: nextSequence())
        return try answer(to: request, as: Link.init(body:))
    }

    /// Every device of the namespace.
    mutating func links() throws(NetlinkError) -> [Link] {
        try dump(.getLink, as: Link.init(body:)) { request in
            request.append(ifinfomsg(index: 0))
            request.append(attribute: IFLA_EXT_MASK, UInt32(RTEXT_FILTER_SKIP_STATS))
        }
    }

    /// Asks for links, then looks ways up, all in one round where that fits; the answers stand in the order of the questions.
    mutating func routes(
        _ queries: [RouteQuery],
        after links: [UInt32] = []
    ) throws(NetlinkError) -> RouteAnswers {
        var answers = RouteAnswers(links: [], routes: [])
        var links = links
        var rest = queries[...]
        repeat {
            let part = rest.prefix(Self.roundLimit)
            rest = rest.dropFirst(Self.roundLimit)
            try round(links, part, into: &answers)
            links = []
        } while !rest.isEmpty
        return answers
    }

    /// So many answers fit into the smallest receive buffer; one too many would be lost.
    private static let roundLimit = 64

    private mutating func round(
        _ links: [UInt32],
        _ queries: ArraySlice<RouteQuery>,
        into answers: inout RouteAnswers
    ) throws(NetlinkError) {
        let count = links.count + queries.count
        if count == 0 { return }
        var request = RequestBuilder(capacity: count * 64)
        for index in links { request.append(link: index, name: nil, sequence: nextSequence()) }
        for query in queries { request.append(query, sequence: nextSequence()) }
        var found = [Link?](repeating: nil, count: links.count)
        var routes = [Result<Route, SystemError>](repeating: .failure(.badMessage), count: queries.count)
        try exchange(request, count: count) { index, answer in
            if index < found.count {
                found[index] = (try? answer.get()).flatMap(Link.init(body:))
            } else {
                routes[index - found.count] = answer.flatMap { body in
                    Route(body: body).map(Result.success) ?? .failure(.badMessage)
                }
            }
        }
        answers.links += found
        // Most questions take one round.
        if answers.routes.isEmpty { answers.routes = routes } else { answers.routes += routes }
    }

    /// Asks for a next hop object; nil when there is none.
    mutating func nextHop(id: UInt32) throws(NetlinkError) -> NextHopObject? {
        var request = RequestBuilder()
        request.begin(.getNextHop, sequence: nextSequence())
        request.append(nhmsg())
        request.append(attribute: Int(NHA_ID), id)
        return try answer(to: request, as: NextHopObject.init(body:))
    }

    /// The one answer to one question; nil when what was asked about does not exist.
    mutating func answer<Value>(
        to request: RequestBuilder,
        as decode: (UnsafeRawBufferPointer) -> Value?
    ) throws(NetlinkError) -> Value? {
        var answer: Result<Value?, SystemError> = .success(nil)
        try exchange(request, count: 1) { answer = $1.map(decode) }
        switch answer {
        case .success(let value): return value
        case .failure(.noDevice), .failure(.noEntry): return nil
        case .failure(let cause): throw NetlinkError("ask the kernel about a link, next hop or neighbour", cause)
        }
    }

    mutating func nextSequence() -> UInt32 {
        sequence &+= 1
        return sequence
    }

    /// Sends `count` requests, the last of which has the current sequence number, and hands each answer's body over
    /// until all are in. Answers of an earlier, abandoned exchange are passed over by their numbers.
    mutating func exchange(
        _ request: RequestBuilder,
        count: Int,
        _ take: (Int, Result<UnsafeRawBufferPointer, SystemError>) -> Void
    ) throws(NetlinkError) {
        if let answers { return try play(request, from: answers, take) }
        guard let tap else { return try exchange(request, count: count, take, onMessage: { _, _ in }) }
        var witness = RequestWitness(tap, request)
        do throws(NetlinkError) {
            try exchange(request, count: count, take) { witness.take($1, at: $0) }
        } catch {
            witness.tell(error)
            throw error
        }
        witness.tell()
    }

    private mutating func exchange(
        _ request: RequestBuilder,
        count: Int,
        _ take: (Int, Result<UnsafeRawBufferPointer, SystemError>) -> Void,
        onMessage: (Int, UnsafeRawBufferPointer) -> Void
    ) throws(NetlinkError) {
        let first = sequence &- UInt32(count) &+ 1
        try socket.send(request.bytes)
        wasInterrupted = false
        var isInterrupted = false
        var missing = count
        while missing > 0 {
            try receive(isMany: count > 1) { datagram in
                var rest = datagram
                while let header = MessageHeader(rest) {
                    let body = rest.bytes(from: MessageHeader.size, length: header.length - MessageHeader.size)
                    let index = Int(header.sequence &- first)
                    if header.port == socket.port, index < count {
                        onMessage(index, rest.bytes(from: 0, length: header.length))
                        isInterrupted = isInterrupted || header.isInterrupted
                        missing -= deliver(header, body, to: { take(index, $0) })
                    }
                    rest = rest.bytes(from: header.length.alignedToAttribute)
                }
            }
        }
        wasInterrupted = isInterrupted
    }

    /// The same without the kernel.
    private func play(
        _ request: RequestBuilder,
        from answers: any NetlinkAnswers,
        _ take: (Int, Result<UnsafeRawBufferPointer, SystemError>) -> Void
    ) throws(NetlinkError) {
        for (index, request) in NetlinkMessages(request.bytes).enumerated() {
            let answer = try answers.answer(to: NetlinkMessages.withoutSequence(request))
            answer.withUnsafeBytes { bytes in
                var rest = bytes
                while let header = MessageHeader(rest) {
                    let body = rest.bytes(from: MessageHeader.size, length: header.length - MessageHeader.size)
                    _ = deliver(header, body, to: { take(index, $0) })
                    rest = rest.bytes(from: header.length.alignedToAttribute)
                }
            }
        }
    }

    /// Hands over the kernel's next datagram, or all that are there.
    func receive(
        isMany: Bool,
        _ take: (UnsafeRawBufferPointer) -> Void
    ) throws(NetlinkError) {
        let all = UnsafeRawBufferPointer(buffer)
        do throws(SystemError) {
            if isMany {
                var lengths = [UInt32](repeating: 0, count: Self.partCount)
                let size = buffer.count / Self.partCount
                let count = try socket.receiveMany(into: buffer, size: size, lengths: &lengths)
                for index in 0..<count { take(all.bytes(from: index * size, length: Int(lengths[index]))) }
            } else {
                let datagram = try socket.receive(into: buffer)
                if datagram.sender == 0 { take(all.bytes(from: 0, length: datagram.count)) }
            }
        } catch {
            throw NetlinkError("read the kernel's answer", error)
        }
    }

    /// Into so many parts the buffer is cut for the answers of a round, 8 KiB each; those of a dump are longer.
    private static let partCount = 16

    /// Hands one message over and says how many requests it finishes.
    private func deliver(
        _ header: MessageHeader,
        _ body: UnsafeRawBufferPointer,
        to take: (Result<UnsafeRawBufferPointer, SystemError>) -> Void
    ) -> Int {
        switch header.kind {
        case .error:
            take(.failure(SystemError(rawValue: -(body.load(Int32.self, at: 0) ?? -EBADMSG))))
            return 1
        case .done:
            if let failure = SystemError(dumpEnd: body) { take(.failure(failure)) }
            return 1
        default:
            take(.success(body))
            return header.isMultipart ? 0 : 1
        }
    }
}

extension ifinfomsg {
    init(index: UInt32) {
        self.init(
            ifi_family: 0,
            __ifi_pad: 0,
            ifi_type: 0,
            ifi_index: Int32(bitPattern: index),
            ifi_flags: 0,
            ifi_change: 0
        )
    }
}

extension RequestBuilder {
    fileprivate mutating func append(link index: UInt32, name: String?, sequence: UInt32) {
        begin(.getLink, sequence: sequence)
        append(ifinfomsg(index: index))
        if let name { append(attribute: IFLA_IFNAME, text: name) }
        // Statistics and VF lists are long and not wanted.
        append(attribute: IFLA_EXT_MASK, UInt32(RTEXT_FILTER_SKIP_STATS))
    }

    mutating func append(_ query: RouteQuery, sequence: UInt32) {
        begin(.getRoute, sequence: sequence)
        let family = query.destination.family
        // IPv6 always names the real table and refuses RTM_F_LOOKUP_TABLE.
        var flags: Int32 = query.wantsEntry ? RTM_F_FIB_MATCH : 0
        if family == .ipv4 { flags |= RTM_F_LOOKUP_TABLE }
        append(
            rtmsg(
                rtm_family: family.rawValue,
                rtm_dst_len: UInt8(family.bitCount),
                rtm_src_len: query.source == nil ? 0 : UInt8(family.bitCount),
                rtm_tos: 0,
                rtm_table: 0,
                rtm_protocol: 0,
                rtm_scope: 0,
                rtm_type: 0,
                rtm_flags: UInt32(flags)
            )
        )
        append(attribute: Int(RTA_DST.rawValue), query.destination)
        if let source = query.source { append(attribute: Int(RTA_SRC.rawValue), source) }
        if let interface = query.outputInterface { append(attribute: Int(RTA_OIF.rawValue), interface) }
        if query.mark != 0 { append(attribute: Int(RTA_MARK.rawValue), query.mark) }
    }
}
