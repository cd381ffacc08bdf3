import LinuxSupport

/// A received DNS message (RFC 1035, section 4), with EDNS (RFC 6891) and extended errors (RFC 8914).
struct DNSMessage: Hashable, Sendable {
    let identifier: UInt16
    let flags: DNSFlags
    /// The response code, with the upper bits of EDNS if there is EDNS.
    private(set) var code: DNSResponseCode
    private(set) var questions: [Question] = []
    private(set) var answers: [DNSRecord] = []
    /// The extended DNS errors (EDE), for example 15 for "blocked".
    private(set) var extendedErrors: [UInt16] = []

    struct Question: Hashable, Sendable {
        let name: DNSName
        let type: DNSRecordType
        let recordClass: UInt16
    }

    /// Parses a datagram, or a message of a stream without its length field.
    ///
    /// A truncated message may end at any byte. Its complete records are used.
    init(_ bytes: [UInt8]) throws(DNSFault) {
        var reader = DNSReader(bytes)
        identifier = try reader.word()
        flags = DNSFlags(rawValue: try reader.word())
        code = DNSResponseCode(rawValue: flags.code)
        let counts = (try reader.word(), try reader.word(), try reader.word(), try reader.word())
        for _ in 0..<counts.0 {
            let name = try reader.name()
            questions.append(
                Question(name: name, type: .init(rawValue: try reader.word()), recordClass: try reader.word())
            )
        }
        do throws(DNSFault) {
            for _ in 0..<counts.1 { if let record = try self.record(&reader) { answers.append(record) } }
            for _ in 0..<Int(counts.2) + Int(counts.3) { _ = try self.record(&reader) }
        } catch {
            guard flags.contains(.truncated), error == .short else { throw error }
        }
    }

    /// Parses a record. Returns nil for EDNS, which is not a record of the name, and for classes other than IN.
    private mutating func record(_ reader: inout DNSReader) throws(DNSFault) -> DNSRecord? {
        let name = try reader.name()
        let type = DNSRecordType(rawValue: try reader.word())
        let recordClass = try reader.word()
        let timeToLive = try reader.longWord()
        let length = Int(try reader.word())
        if type == .opt {
            code = DNSResponseCode(rawValue: UInt16(timeToLive >> 24) << 4 | flags.code)
            try options(Array(try reader.take(length)))
            return nil
        }
        guard recordClass == 1 else {
            _ = try reader.take(length)
            return nil
        }
        return try DNSRecord(name, type, length: length, &reader)
    }

    private mutating func options(_ bytes: [UInt8]) throws(DNSFault) {
        var reader = DNSReader(bytes)
        while reader.index < bytes.count {
            let code = try reader.word()
            let content = try reader.take(Int(try reader.word()))
            if code == 15, content.count >= 2 {
                extendedErrors.append(content.prefix(2).reduce(0) { $0 << 8 | UInt16($1) })
            }
        }
    }
}

extension DNSMessage {
    /// Returns whether this message answers `question`: it is a response with the same identifier, name and type. Other hosts cannot know
    /// the random identifier.
    func answers(_ question: DNSQuestion) -> Bool {
        flags.contains(.response) && flags.operation == 0 && identifier == question.identifier
            && questions == [Question(name: question.name, type: question.type, recordClass: 1)]
    }

    /// Returns `name` and its aliases. Each alias is followed once, so a loop ends.
    private func names(of name: DNSName) -> Set<DNSName> {
        var (names, last): (Set<DNSName>, DNSName) = ([name], name)
        var aliases: [DNSName: DNSName] = [:]
        for record in answers { if case .canonicalName(let other) = record.content { aliases[record.name] = other } }
        while let next = aliases[last], names.insert(next).inserted { last = next }
        return names
    }

    /// Returns the addresses of `name`.
    func addresses(of name: DNSName) -> [WireAddress] {
        let names = names(of: name)
        return answers.compactMap {
            guard case .address(let address) = $0.content, names.contains($0.name) else { return nil }
            return address
        }
    }
}

extension DNSMessage {
    /// Returns the records of a name and type in their usual notation. Aliases are followed, unless aliases are requested.
    func records(of name: DNSName, _ type: DNSRecordType) -> [String] {
        let names = type == .cname ? [name] : self.names(of: name)
        return answers.compactMap { record in
            guard names.contains(record.name) else { return nil }
            switch record.content {
            case .canonicalName(let other): return type == .cname ? "\(other)" : nil
            case .data(type, let text): return text
            case .address, .data, .other: return nil
            }
        }
    }
}

/// A record of a response. Records of other types are not parsed.
struct DNSRecord: Hashable, Sendable {
    enum Content: Hashable, Sendable {
        /// The address of an A or AAAA record.
        case address(WireAddress)
        case canonicalName(DNSName)
        /// The data of a record of another type that is parsed, in its usual notation.
        case data(DNSRecordType, String)
        case other(DNSRecordType)
    }

    let name: DNSName
    let content: Content
}

extension DNSRecord {
    init(_ name: DNSName, _ type: DNSRecordType, length: Int, _ reader: inout DNSReader) throws(DNSFault) {
        let start = reader.index
        let content: Content
        switch type {
        case .a, .aaaa:
            guard length == (type == .a ? 4 : 16), let address = WireAddress(bytes: try reader.take(length)) else {
                throw .badRecord
            }
            content = .address(address)
        case .cname:
            content = .canonicalName(try reader.name())
        case .ns, .ptr:
            let name = try reader.name()
            content = .data(type, "\(name)")
        case .mx:
            let (preference, host) = (try reader.word(), try reader.name())
            content = .data(type, "\(preference) \(host)")
        case .srv:
            let (priority, weight, port) = (try reader.word(), try reader.word(), try reader.word())
            let host = try reader.name()
            content = .data(type, "\(priority) \(weight) \(port) \(host)")
        case .txt:
            var text: [UInt8] = []
            while reader.index < start + length { text += try reader.take(Int(try reader.byte())) }
            content = .data(type, String(decoding: text, as: UTF8.self).printable)
        default:
            _ = try reader.take(length)
            content = .other(type)
        }
        guard reader.index == start + length else { throw .badRecord }
        self.init(name: name, content: content)
    }
}

/// A question for the records of a name and type, class IN, with recursion (RFC 1035).
struct DNSQuestion: Hashable, Sendable {
    var identifier: UInt16
    var name: DNSName
    var type: DNSRecordType
    /// True if the question uses EDNS (RFC 6891), which servers need to report why a name is blocked. A few old servers do not support it.
    var hasExtensions = true

    /// The maximum size in bytes of a response over UDP. A larger one could be fragmented.
    static let payloadSize: UInt16 = 1232

    init(_ name: DNSName, _ type: DNSRecordType, identifier: UInt16) {
        self.name = name
        self.type = type
        self.identifier = identifier
    }

    /// The question as a datagram.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        let flags = DNSFlags.recursionDesired.rawValue
        for word in [identifier, flags, 1, 0, 0, hasExtensions ? 1 : 0] { bytes.append(word: word) }
        bytes += name.bytes
        bytes.append(word: type.rawValue)
        bytes.append(word: 1)
        guard hasExtensions else { return bytes }
        bytes.append(0)
        for word in [DNSRecordType.opt.rawValue, Self.payloadSize, 0, 0, 0] { bytes.append(word: word) }
        return bytes
    }
}

extension [UInt8] {
    mutating func append(word: UInt16) {
        append(UInt8(word >> 8))
        append(UInt8(word & 0xff))
    }
}

/// The response of a server to a question.
enum DNSAnswer: Hashable, Sendable {
    case whole(DNSMessage)
    /// The response is truncated (flag TC). The same question over TCP returns the complete response.
    case truncated(DNSMessage)
    /// The identifier, name or type differs: the response belongs to an earlier question, or is forged.
    case mismatched
    case malformed(DNSFault)

    init(_ bytes: [UInt8], to question: DNSQuestion) {
        guard Self.isResponse(bytes, for: question) else {
            self = .mismatched
            return
        }
        do throws(DNSFault) {
            let message = try DNSMessage(bytes)
            // A server that does not support the question may omit it in its response.
            let isRefusal = message.questions.isEmpty && message.code != .noError && message.flags.contains(.response)
            if !message.answers(question) && !(isRefusal && message.identifier == question.identifier) {
                self = .mismatched
            } else {
                self = message.flags.contains(.truncated) ? .truncated(message) : .whole(message)
            }
        } catch {
            self = .malformed(error)
        }
    }

    /// Returns whether the bytes are a response with the question's identifier. Other bytes may come from any host, and are not parsed.
    static func isResponse(_ bytes: [UInt8], for question: DNSQuestion) -> Bool {
        bytes.count >= 3 && bytes[0] == UInt8(question.identifier >> 8) && bytes[1] == UInt8(question.identifier & 0xff)
            && bytes[2] & 0x80 != 0
    }

    /// True if the response can be parsed and answers the question.
    var isReadable: Bool {
        switch self {
        case .whole, .truncated: true
        case .mismatched, .malformed: false
        }
    }

    var isTruncated: Bool { if case .truncated = self { true } else { false } }
}

/// DNS messages in a TCP stream. Each follows its length in two bytes (RFC 1035, section 4.2.2).
enum DNSStream {
    /// Returns the message with its length field. Nil if the message is too long.
    static func frame(_ message: [UInt8]) -> [UInt8]? {
        UInt16(exactly: message.count).map { [UInt8($0 >> 8), UInt8($0 & 0xff)] + message }
    }

    /// Returns the first message of a stream. Nil if it is incomplete.
    static func first(in bytes: [UInt8]) -> ArraySlice<UInt8>? {
        guard bytes.count >= 2 else { return nil }
        let end = 2 + (Int(bytes[0]) << 8 | Int(bytes[1]))
        return bytes.count >= end ? bytes[2..<end] : nil
    }
}
