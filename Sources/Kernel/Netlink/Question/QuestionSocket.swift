import CLinux
import Glibc
import LinuxPrimitives

/// Asks the kernel, or whoever plays it: writes requests and makes answers of messages.
package struct QuestionSocket: Sendable {
    private let transport: any NetlinkTransport
    private var sequence: UInt32 = 0

    /// So many answers fit into the smallest receive buffer, unless they are long.
    private static let roundLimit = 64
    /// So often a dump is asked for again that changes came into; then what came last counts: where changes never end, no
    /// answer is better.
    private static let dumpLimit = 8

    package init(_ transport: any NetlinkTransport) {
        self.transport = transport
    }

    /// One answer for each question, in their order. Questions with one answer share their rounds, and are answered one after
    /// the other.
    package mutating func ask(_ questions: [KernelQuestion]) throws(NetlinkError) -> [KernelAnswer] {
        var answers: [KernelAnswer] = []
        answers.reserveCapacity(questions.count)
        var rest = questions[...]
        while let first = rest.first {
            if let answer = try dump(first) {
                answers.append(answer)
                rest = rest.dropFirst()
            } else {
                let round = rest.prefix(Self.roundLimit).prefix { !$0.isDump }
                answers += try askInParts(round)
                rest = rest.dropFirst(round.count)
            }
        }
        return answers
    }

    /// Asks again in smaller rounds where the answers were too long for the receive buffer together.
    private mutating func askInParts(_ round: ArraySlice<KernelQuestion>) throws(NetlinkError) -> [KernelAnswer] {
        do throws(NetlinkError) {
            return try ask(round: round)
        } catch {
            guard error.cause == .noBufferSpace, round.count > 1 else { throw error }
            let middle = round.startIndex + round.count / 2
            return try askInParts(round[..<middle]) + askInParts(round[middle...])
        }
    }

    private mutating func ask(round: ArraySlice<KernelQuestion>) throws(NetlinkError) -> [KernelAnswer] {
        var request = RequestBuilder(capacity: round.count * 64)
        let first = sequence &+ 1
        for question in round { request.append(question, sequence: nextSequence()) }
        var answers = [KernelAnswer?](repeating: nil, count: round.count)
        var failure: NetlinkError?
        try transport.exchange(request.bytes, first: first, count: round.count) { index, message in
            do throws(NetlinkError) {
                answers[index] = try KernelAnswer(Self.body(message), to: round[round.startIndex + index])
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return zip(answers, round).map { answer, question in answer ?? .missing(to: question) }
    }

    mutating func nextSequence() -> UInt32 {
        sequence &+= 1
        return sequence
    }

    /// What a message that answers says, without its head.
    private static func body(_ message: UnsafeRawBufferPointer) -> Result<UnsafeRawBufferPointer, SystemError> {
        let body = message.bytes(from: MessageHeader.size)
        guard MessageHeader(message)?.kind == .error else { return .success(body) }
        return .failure(SystemError(rawValue: -(body.load(Int32.self, at: 0) ?? -EBADMSG)))
    }
}

// MARK: - Asking for all there is of something

extension QuestionSocket {
    /// The answer to a question for all there is of something; nil for any other question.
    private mutating func dump(_ question: KernelQuestion) throws(NetlinkError) -> KernelAnswer? {
        switch question {
        case .links:
            return .links(
                try dump(.getLink, as: Link.init(body:)) { request in
                    request.append(ifinfomsg(index: 0))
                    request.append(attribute: IFLA_EXT_MASK, UInt32(RTEXT_FILTER_SKIP_STATS))
                }
            )
        case .addresses:
            return .addresses(
                try dump(.getAddress, as: InterfaceAddress.init(body:)) { request in
                    request.append(
                        ifaddrmsg(ifa_family: 0, ifa_prefixlen: 0, ifa_flags: 0, ifa_scope: 0, ifa_index: 0)
                    )
                }
            )
        case .rules(let family): return .rules(try rules(family))
        case .routesCovering(let address):
            return .tableRoutes(
                try dump(.getRoute, as: { TableRoute(body: $0, covering: address) }) { request in
                    var head = rtmsg()
                    head.rtm_family = address.family.rawValue
                    request.append(head)
                }
            )
        default: return nil
        }
    }

    mutating func rules(_ family: AddressFamily) throws(NetlinkError) -> [RoutingRule] {
        try dump(.getRule, as: RoutingRule.init(body:)) { request in
            var head = fib_rule_hdr()
            head.family = family.rawValue
            request.append(head)
        }
    }

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
            let number = nextSequence()
            var request = RequestBuilder()
            request.begin(kind, flags: NLM_F_DUMP, sequence: number)
            appendBody(&request)
            var values: [Value] = []
            var failure: SystemError?
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
            answers = failure.map(Result.failure) ?? .success(values)
            if !isInterrupted { break }
        }
        switch answers {
        case .success(let values): return values
        // A kernel may be built without what is asked for.
        case .failure(.noEntry), .failure(.notSupported): return []
        case .failure(let cause): throw NetlinkError("list what the kernel has", cause)
        }
    }
}

extension KernelQuestion {
    /// Whether it is answered by many messages, or by another socket.
    fileprivate var isDump: Bool {
        switch self {
        case .links, .addresses, .rules, .routesCovering, .hardware: true
        case .link, .linkNamed, .route, .nextHopObject, .isIPv6Disabled, .neighbour: false
        }
    }
}

extension KernelAnswer {
    /// Stands where the kernel has sent nothing that can be read.
    fileprivate static func missing(to question: KernelQuestion) -> KernelAnswer {
        switch question {
        case .route: .route(.failure(.badMessage))
        case .nextHopObject: .nextHopObject(nil)
        case .neighbour: .neighbour(nil)
        case .isIPv6Disabled: .isIPv6Disabled(nil)
        default: .link(nil)
        }
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

extension TableRoute {
    /// Reads an RTM_NEWROUTE body; nil when it does not cover the address.
    fileprivate init?(body: UnsafeRawBufferPointer, covering address: WireAddress) {
        guard let route = Route(body: body), let head = body.load(rtmsg.self, at: 0),
            head.rtm_family == address.family.rawValue
        else { return nil }
        var destination = WireAddress(family: address.family, bits: 0)
        for (type, value) in Attributes(body.bytes(from: MemoryLayout<rtmsg>.size)) where type == RTA_DST.rawValue {
            destination = WireAddress(bytes: value) ?? destination
        }
        let prefix = AddressPrefix(destination, length: Int(route.prefixLength))
        guard prefix.contains(address) else { return nil }
        self.init(prefix: prefix, route: route)
    }
}
