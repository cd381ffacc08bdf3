import CLinux
import Glibc
import LinuxSupport

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
            if let answer = try KernelAnswer(dumpOf: first, from: &self) {
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
        var complete: [KernelAnswer] = []
        complete.reserveCapacity(round.count)
        for (answer, question) in zip(answers, round) {
            if let answer { complete.append(answer) } else { complete.append(try KernelAnswer(nil, to: question)) }
        }
        return complete
    }

    private mutating func nextSequence() -> UInt32 {
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

// MARK: - Dumps

extension QuestionSocket {
    /// All that the kernel has of what is asked, in its order, read until no change came into it (NLM_F_DUMP_INTR).
    ///
    /// - Parameter decode: what makes a value of a message's body; nil leaves it out.
    mutating func dump<Value>(
        _ question: KernelQuestion,
        as decode: (UnsafeRawBufferPointer) -> Value?
    ) throws(NetlinkError) -> [Value] {
        var answers: Result<[Value], SystemError> = .success([])
        for _ in 0..<Self.dumpLimit {
            let number = nextSequence()
            var request = RequestBuilder()
            request.append(question, sequence: number)
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

extension SystemError {
    /// The error number that ends a dump; nil when it is 0, or missing as in older kernels.
    init?(dumpEnd body: UnsafeRawBufferPointer) {
        let number = -(body.load(Int32.self, at: 0) ?? 0)
        if number <= 0 { return nil }
        self.init(rawValue: number)
    }
}
