package import LinuxSupport

/// A message of DNS as a server sent it (RFC 1035, section 4; EDNS of RFC 6891 with the extended errors of RFC 8914).
package struct DNSMessage: Hashable, Sendable {
    package let identifier: UInt16
    package let flags: DNSFlags
    /// With the upper bits, where there is EDNS.
    package private(set) var code: DNSResponseCode
    package private(set) var questions: [Question] = []
    package private(set) var answers: [DNSRecord] = []
    package private(set) var authorities: [DNSRecord] = []
    /// The codes of EDE, for example 15 for blocked.
    package private(set) var extendedErrors: [UInt16] = []

    package struct Question: Hashable, Sendable {
        package let name: DNSName
        package let type: DNSRecordType
        package let recordClass: UInt16
    }

    /// Reads a datagram, or a message of a stream without its length.
    ///
    /// A truncated answer may end anywhere: what is whole of it is kept.
    package init(_ bytes: [UInt8]) throws(DNSFault) {
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
            for _ in 0..<counts.2 { if let record = try self.record(&reader) { authorities.append(record) } }
            for _ in 0..<counts.3 { _ = try self.record(&reader) }
        } catch {
            guard flags.contains(.truncated), error == .short else { throw error }
        }
    }

    /// Nil for EDNS, which is no record of the name, and for other classes than IN.
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
        return try DNSRecord(name, type, timeToLive: timeToLive, length: length, &reader)
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
    /// Whether this answers `question`: a response with its number, name and type. Nobody else knows the number.
    package func answers(_ question: DNSQuestion) -> Bool {
        flags.contains(.response) && flags.operation == 0 && identifier == question.identifier
            && questions == [Question(name: question.name, type: question.type, recordClass: 1)]
    }

    /// The addresses of `name`, over the aliases in between: each is taken once, so there is no loop.
    package func addresses(of name: DNSName) -> [WireAddress] {
        var (names, last): (Set<DNSName>, DNSName) = ([name], name)
        var aliases: [DNSName: DNSName] = [:]
        for record in answers { if case .canonicalName(let other) = record.content { aliases[record.name] = other } }
        while let next = aliases[last], names.insert(next).inserted { last = next }
        return answers.compactMap {
            guard case .address(let address) = $0.content, names.contains($0.name) else { return nil }
            return address
        }
    }

    /// How long an absence may be remembered, in seconds (RFC 2308): the smaller of SOA's own time and its MINIMUM.
    package var negativeTimeToLive: UInt32? {
        for record in authorities {
            if case .authority(let minimum) = record.content { return min(minimum, record.timeToLive) }
        }
        return nil
    }
}
