import CLinux
import Glibc
import LinuxPrimitives

/// The socket that asks. Nothing is multicast to it, so no storm can push an answer out.
///
/// Every call blocks for the few microseconds the kernel takes to answer, or as long as it holds its configuration
/// lock (RTNL). Callers take turns: one question at a time.
struct QuestionSocket: ~Copyable {
    let socket: NetlinkSocket
    private let buffer: DatagramBuffer
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
        buffer = DatagramBuffer(count: 0, size: 0)
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
        // The answers of a round are short. A dump's datagram is at most 32 KiB long, and has all the room for itself.
        buffer = DatagramBuffer(count: 16, size: 8 << 10)
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
        answers.routes.reserveCapacity(queries.count)
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
        let (firstLink, firstRoute) = (answers.links.count, answers.routes.count)
        try exchange(request, count: count) { index, answer in
            if index < links.count {
                // An answer that is missing, or comes twice, must not move the others.
                guard answers.links.pad(to: firstLink + index, with: nil) else { return }
                answers.links.append((try? answer.get()).flatMap(Link.init(body:)))
            } else {
                guard answers.routes.pad(to: firstRoute + index - links.count, with: .failure(.badMessage)) else {
                    return
                }
                answers.routes.append(Self.route(answer))
            }
        }
        answers.links.pad(to: firstLink + links.count, with: nil)
        answers.routes.pad(to: firstRoute + queries.count, with: .failure(.badMessage))
    }

    private static func route(_ answer: Result<UnsafeRawBufferPointer, SystemError>) -> Result<Route, SystemError> {
        switch answer {
        case .success(let body): Route(body: body).map(Result.success) ?? .failure(.badMessage)
        case .failure(let cause): .failure(cause)
        }
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
        do throws(SystemError) {
            if isMany {
                for index in 0..<(try buffer.receive(from: descriptor)) {
                    let datagram = buffer[index]
                    if datagram.isCutOff { throw .messageTooLong }
                    if datagram.sender == 0 { take(datagram.bytes) }
                }
            } else {
                let datagram = try socket.receive(into: buffer.bytes)
                if datagram.sender == 0 {
                    take(UnsafeRawBufferPointer(buffer.bytes).bytes(from: 0, length: datagram.count))
                }
            }
        } catch {
            throw NetlinkError("read the kernel's answer", error)
        }
    }

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
    mutating func append(link index: UInt32, name: String?, sequence: UInt32) {
        begin(.getLink, sequence: sequence)
        append(ifinfomsg(index: index))
        if let name { append(attribute: IFLA_IFNAME, text: name) }
        // Statistics and VF lists are long and not wanted.
        append(attribute: IFLA_EXT_MASK, UInt32(RTEXT_FILTER_SKIP_STATS))
    }
}

extension Array {
    /// Appends `filler` until there are `count` elements; says whether there are not more already.
    @discardableResult
    fileprivate mutating func pad(to count: Int, with filler: @autoclosure () -> Element) -> Bool {
        while self.count < count { append(filler()) }
        return self.count == count
    }
}
