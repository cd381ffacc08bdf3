import LinuxSupport
import NetworkReachability

/// A question about records to a DNS server that is a target, and the expected answer.
struct RecordQuery: Hashable, Sendable {
    let name: DNSName
    let type: DNSRecordType
    /// The records that the answer must contain, in the notation of ``DNSFacts``. If empty, any record is sufficient.
    private(set) var expected: Set<String> = []

    /// Parses the part of a target after the server: `example.org` or `example.org?type=MX`.
    ///
    /// - Returns: Nil without a valid name.
    /// - Throws: ``CheckInputError`` for an unknown type.
    init?(_ text: Substring, of target: String) throws(CheckInputError) {
        let parts = text.split(at: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let ascii = IDNA.ascii(String(parts[0])), !ascii.isEmpty, let name = DNSName(ascii) else { return nil }
        self.name = name
        guard let query = parts.dropFirst().first else {
            type = .a
            return
        }
        guard query.hasPrefix("type="), let type = DNSRecordType.named[query.dropFirst(5).uppercased()] else {
            let names = CheckTarget.recordTypes.joined(separator: ", ")
            throw .target(target, "only ?type=TYPE may follow the name, and TYPE is one of \(names)")
        }
        self.type = type
    }

    /// Adds records that the answer must contain.
    ///
    /// - Throws: ``CheckInputError`` for a text that is not a record of the type.
    mutating func expect(_ records: [String]) throws(CheckInputError) {
        for text in records {
            guard let record = Self.record(text, type) else {
                throw .option(text, "is not a record of the type \(type); write, for example, \"\(type.example)\"")
            }
            expected.insert(record)
        }
    }

    /// Returns a record in the notation of ``DNSFacts``; nil for a text that is not a record of the type.
    private static func record(_ text: String, _ type: DNSRecordType) -> String? {
        func name(_ text: Substring) -> String? {
            IDNA.ascii(String(text)).flatMap { $0.isEmpty ? nil : DNSName($0) }.map { "\($0)".lowercased() }
        }
        switch type {
        case .a, .aaaa:
            guard let address = IPAddress(text), address.isIPv6 == (type == .aaaa), address.zone == nil else {
                return nil
            }
            return address.description
        case .txt: return text.printable
        default:
            let words = text.words
            let count = type == .mx ? 1 : type == .srv ? 3 : 0
            let numbers = words.prefix(count).compactMap { UInt16($0) }
            guard words.count == count + 1, numbers.count == count, let host = words.last.flatMap(name) else {
                return nil
            }
            return (numbers.map(String.init) + [host]).joined(separator: " ")
        }
    }

    /// Returns the first difference between an answer and the expected one, as a part of a sentence. Nil if there is none.
    func problem(in records: [String]) -> String? {
        guard let missing = expected.subtracting(records).min() else { return nil }
        let found = records.prefix(8).joined(separator: ", ") + (records.count > 8 ? ", …" : "")
        return "\(name) has the \(type) records \(found), without \(missing)"
    }
}

extension Prober {
    /// Queries the target, which is a DNS server.
    func query(
        target server: IPAddress,
        _ query: RecordQuery,
        _ identifier: UInt16,
        limit: Duration
    ) async -> ProbeResult {
        let question = DNSQuestion(query.name, query.type, identifier: identifier)
        var result = await self.query(server, .target, question, limit: limit)
        result.request.subject = .target
        guard result.outcome == .answered, let facts = result.evidence.dns else { return result }
        let records = facts.addresses.map(\.description) + facts.records
        if records.isEmpty {
            result.outcome = .invalid(facts.code == .nameError ? .nameNotFound : .noData)
        } else if let problem = query.problem(in: records.map { query.type == .txt ? $0 : $0.lowercased() }) {
            result.outcome = .invalid(.recordNotExpected)
            result.evidence.detail = problem
        }
        return result
    }
}

extension DNSRecordType: CustomStringConvertible {
    /// The types that a target may name.
    static let named: [String: DNSRecordType] = [
        "A": .a, "AAAA": .aaaa, "CNAME": .cname, "MX": .mx, "NS": .ns, "PTR": .ptr, "SRV": .srv, "TXT": .txt,
    ]

    /// The name of the type. Types that a target cannot name are written as in RFC 3597.
    var description: String { Self.named.first { $0.value == self }?.key ?? "TYPE\(rawValue)" }

    /// A record of the type.
    fileprivate var example: String {
        switch self {
        case .a: "192.0.2.1"
        case .aaaa: "2001:db8::1"
        case .mx: "10 mail.example.org"
        case .srv: "0 5 5061 sip.example.org"
        case .txt: "v=spf1 -all"
        default: "host.example.org"
        }
    }
}
