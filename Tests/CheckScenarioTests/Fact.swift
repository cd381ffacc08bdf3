import Glibc
import NetworkLab

/// What plain packets must do for a situation to be what it says. Each is true of every family of the line, unless it names one.
struct Fact: Sendable {
    enum Claim: Sendable {
        /// An echo is answered, or not.
        case echo(Bool)
        case connection(UInt16, Connection)
        /// What a name server says over UDP of a name's addresses.
        case name(String, Name)
        /// How an HTTP server answers a plain GET: with a status, or not at all.
        case page(UInt16, Int?)
        /// Whether a TLS server of that name has a chain to our root.
        case chain(String, Bool)
    }

    enum Connection: Sendable {
        case open, refused, silent
        /// Somebody on the way, or the kernel, says that it cannot be.
        case unreachable
    }

    enum Name: Sendable, Equatable {
        /// So many addresses, of the type of the family.
        case addresses(Int)
        /// A response code.
        case code(Int)
        case truncated
        case silent
        /// The kernel does not even send the question.
        case unsent
        /// Nobody listens.
        case closed
        /// Something that answers no question of ours, or cannot be read.
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

    /// Of the name of the host.
    static func name(_ spot: Spot, _ answer: Name) -> Fact { name(spot, "host.example", answer) }

    static func page(_ spot: Spot, _ port: UInt16, _ status: Int?) -> Fact {
        Fact(spot: spot, claim: .page(port, status))
    }

    /// At port 80.
    static func page(_ spot: Spot, _ status: Int?) -> Fact { page(spot, 80, status) }

    static func chain(_ spot: Spot, _ name: String, isGood: Bool) -> Fact {
        Fact(spot: spot, claim: .chain(name, isGood))
    }

    /// Only of this family.
    func only(_ family: Family) -> Fact {
        var other = self
        other.family = family
        return other
    }
}

extension Fact {
    /// Whether it is so, in the namespace of the calling thread: nil if it is, else what was found instead. Blocks. What should
    /// answer gets time. Silence must last for two questions, for a link takes up to a second to carry packets, and is refuted by one
    /// answer, for a router that answered with an error is silent then.
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

    /// How long silence lasts until it is one.
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

    /// Nil where it is so.
    private func look(_ family: Family) throws -> String? {
        let (isSo, found) = try answer(family)
        return isSo ? nil : found
    }

    private func answer(_ family: Family) throws -> (Bool, String) {
        let (address, source) = (spot.address(family), World.source(family))
        // Through a device that is named, the kernel chooses.
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
