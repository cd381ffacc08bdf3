import Glibc
import NetworkLab

/// A property of a situation that plain packets prove. It holds for every family of the line, unless it names one.
struct Fact: Sendable {
    enum Claim: Sendable {
        /// Whether an echo is answered.
        case echo(Bool)
        case connection(UInt16, Connection)
        /// The answer of a name server over UDP for a name.
        case name(String, Name)
        /// The status with which an HTTP server answers a plain GET; nil without an answer.
        case page(UInt16, Int?)
        /// True if a TLS server with that name has a chain to the trusted root.
        case chain(String, Bool)
    }

    enum Connection: Sendable {
        case open, refused, silent
        /// A router or the kernel reports that the connection is not possible.
        case unreachable
    }

    enum Name: Sendable, Equatable {
        /// Addresses of the family's type. The value is their number.
        case addresses(Int)
        /// A response code.
        case code(Int)
        case truncated
        case silent
        /// The kernel does not send the question.
        case unsent
        /// No server listens.
        case closed
        /// A response to another question, or a malformed one.
        case nonsense
    }

    let spot: Spot
    let claim: Claim
    var family: Family?

    static func echo(_ spot: Spot) -> Fact { Fact(spot: spot, claim: .echo(true)) }

    static func noEcho(_ spot: Spot) -> Fact { Fact(spot: spot, claim: .echo(false)) }

    static func tcp(_ spot: Spot, _ port: UInt16, _ connection: Connection) -> Fact {
        Fact(spot: spot, claim: .connection(port, connection))
    }

    static func name(_ spot: Spot, _ name: String, _ answer: Name) -> Fact {
        Fact(spot: spot, claim: .name(name, answer))
    }

    /// The answer for the name of the host.
    static func name(_ spot: Spot, _ answer: Name) -> Fact { name(spot, "host.example", answer) }

    static func page(_ spot: Spot, _ port: UInt16, _ status: Int?) -> Fact {
        Fact(spot: spot, claim: .page(port, status))
    }

    /// The page at port 80.
    static func page(_ spot: Spot, _ status: Int?) -> Fact { page(spot, 80, status) }

    static func chain(_ spot: Spot, _ name: String, isGood: Bool) -> Fact {
        Fact(spot: spot, claim: .chain(name, isGood))
    }

    /// Returns the fact for one family only.
    func only(_ family: Family) -> Fact {
        var other = self
        other.family = family
        return other
    }
}

extension Fact {
    /// Tests the fact in the namespace of the calling thread. Returns nil if it holds, otherwise a description of the difference. Blocks
    /// the thread. An expected answer gets time. Silence must last for two questions, because a link takes up to a second to carry packets.
    /// One answer refutes it, because a router that answered with an error is silent afterwards.
    func contradiction(_ family: Family, within limit: Duration = .seconds(8)) throws -> String? {
        var found: String?
        if isSilence {
            for _ in 1...2 where found == nil { found = try look(family) }
        } else {
            _ = try Deadline(after: limit).poll(every: .milliseconds(100)) {
                found = try look(family)
                return found == nil
            }
        }
        return found.map { "\(claim) at \(spot) by \(family): \($0)" }
    }

    /// The time that silence must last.
    private var patience: Duration { .milliseconds(isSilence ? 900 : 2500) }

    private var isSilence: Bool {
        switch claim {
        case .echo(let isAnswered): !isAnswered
        case .connection(_, let connection): connection == .silent
        case .name(_, let name): name == .silent
        case .page(_, let status): status == nil
        case .chain: false
        }
    }

    /// Returns nil if the fact holds.
    private func look(_ family: Family) throws -> String? {
        let (isSo, found) = try answer(family)
        return isSo ? nil : found
    }

    private func answer(_ family: Family) throws -> (Bool, String) {
        let (address, source) = (spot.address(family), World.source(family))
        // With a zone, the kernel chooses the source.
        let bound = address.contains("%") ? nil : source
        switch claim {
        case .echo(let isExpected):
            let answer = PlainPackets.echo(address, from: bound, within: patience)
            if case .bytes = answer { return (isExpected, "answered") }
            return (!isExpected, "\(answer)")
        case .connection(let port, let expected):
            let answer = PlainPackets.stream(to: address, port, from: bound, within: patience)
            let isSo =
                switch (expected, answer) {
                case (.open, .connected), (.refused, .refused), (.silent, .silence): true
                case (.unreachable, .failed), (.unreachable, .unsent): true
                default: false
                }
            return (isSo, "\(answer)")
        case .name(let name, let expected):
            let question = PlainQuestion(name, family)
            let answer = PlainPackets.datagram(question.bytes, to: address, 53, from: bound, within: patience)
            let found = question.meaning(of: answer)
            return (found == expected, "\(found.map { "\($0)" } ?? "\(answer)")")
        case .page(let port, let expected):
            let request = "GET /204 HTTP/1.1\r\nHost: plain.example\r\nConnection: close\r\n\r\n"
            let answer = PlainPackets.stream(Array(request.utf8), to: address, port, from: bound, within: patience)
            guard case .bytes(let bytes) = answer else { return (expected == nil, "\(answer)") }
            let words = String(decoding: bytes.prefix(64), as: UTF8.self).split(separator: " ")
            let status = words.dropFirst().first.flatMap { Int($0) }
            return (status == expected, "\(words.prefix(2))")
        case .chain(let name, let isGood):
            let host = family == .ipv6 ? "[\(address)]" : address
            let arguments = [
                "s_client", "-connect", "\(host):443", "-servername", name, "-verify_hostname", name, "-brief",
                "-verify_return_error", "-CAfile", Roots.file, "-no-CApath", "-no-CAstore",
            ]
            let result = try LabProcess("openssl", arguments).wait(within: .seconds(15))
            return ((result.status == 0) == isGood, String(result.errors.prefix(300)))
        }
    }
}
