import LinuxSupport

/// A question as a name server reads it, and the bytes of answers to it. Nothing of this is shared with the code under test, which could
/// not notice a mistake of its own.
struct NameMessage {
    let identifier: UInt16
    /// In small letters, without a dot at its end.
    let name: String
    /// 1 for A, 28 for AAAA.
    let type: UInt16
    /// Name, type and class, as they were asked.
    private let question: [UInt8]
    let hasExtensions: Bool

    /// Nil if that is no question.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 12, bytes[2] & 0x80 == 0, bytes[4] == 0, bytes[5] == 1 else { return nil }
        var labels: [String] = []
        var place = 12
        while true {
            guard place < bytes.count, bytes[place] < 64 else { return nil }
            let length = Int(bytes[place])
            place += 1
            if length == 0 { break }
            guard place + length <= bytes.count else { return nil }
            labels.append(String(decoding: bytes[place..<(place + length)], as: UTF8.self).lowercased())
            place += length
        }
        guard place + 4 <= bytes.count else { return nil }
        identifier = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
        name = labels.joined(separator: ".")
        type = UInt16(bytes[place]) << 8 | UInt16(bytes[place + 1])
        question = Array(bytes[12..<(place + 4)])
        hasExtensions = bytes[10] != 0 || bytes[11] != 0
    }

    /// How an answer differs from a good one.
    enum Flaw {
        case none, truncated, malformed, wrongIdentifier, wrongQuestion
    }

    /// An answer with these addresses, of which only those of the type that was asked for count.
    func answer(
        _ addresses: [String] = [],
        code: UInt8 = 0,
        extendedErrors: [UInt16] = [],
        isAlone: Bool = false,
        flaw: Flaw = .none
    ) -> [UInt8] {
        let records = addresses.compactMap { WireAddress($0)?.bytes }.filter { $0.count == (type == 28 ? 16 : 4) }
        let found = flaw == .truncated || type != 1 && type != 28 ? [] : records
        let isMalformed = flaw == .malformed
        // QR, RD and RA, and TC where that is to be said.
        var bytes = words(flaw == .wrongIdentifier ? ~identifier : identifier)
        bytes += [flaw == .truncated ? 0x83 : 0x81, (isAlone ? 0 : 0x80) | code & 15]
        bytes += words(1, isMalformed ? 1 : UInt16(found.count), 0, hasExtensions ? 1 : 0)
        bytes += flaw == .wrongQuestion ? [5] + Array("other".utf8) + question : question
        for address in isMalformed ? [[192, 0]] : found {
            // The name is that of the question; IN, for a minute.
            bytes += words(0xc00c, type, 1, 0, 60, isMalformed ? 4 : UInt16(address.count)) + address
        }
        if isMalformed || !hasExtensions { return bytes }
        let options = extendedErrors.flatMap { words(15, 2, $0) }
        return bytes + [0] + words(41, 1232, 0, 0, UInt16(options.count)) + options
    }

    private func words(_ words: UInt16...) -> [UInt8] {
        words.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }
    }
}
