import LinuxSupport
import ReachabilityLedger

/// What is wrong with a message of a stranger.
package struct PayloadError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// The payload of a message: an object of JSON with `"schema":1`, read strictly and with bounds, for whoever has a device's
/// password may send anything. Keys that are not known are passed over: later versions add some.
struct Payload {
    /// A longer message is refused unread.
    static let longest = 16 << 10
    /// A text in it has so many bytes at most.
    static let longestText = 512
    /// No time is later: the end of the year 9999, in milliseconds since 1970.
    static let latest: UInt64 = 253_402_300_799_999

    private let members: [String: JSONValue]

    init(_ bytes: [UInt8], longest: Int = Self.longest) throws(PayloadError) {
        guard bytes.count <= longest else { throw PayloadError("\(bytes.count) bytes, where \(longest) are allowed") }
        guard case .object(let members)? = JSONValue(bytes) else { throw PayloadError("no object of JSON") }
        self.members = members
        guard case .number("1")? = members["schema"] else { throw PayloadError("\"schema\" is not 1") }
    }

    init(members: [String: JSONValue]) {
        self.members = members
    }

    /// A text that must be there.
    func text(_ key: String, longest: Int = longestText) throws(PayloadError) -> String {
        guard let text = try optionalText(key, longest: longest) else { throw PayloadError("\"\(key)\" is missing") }
        return text
    }

    func optionalText(_ key: String, longest: Int = longestText) throws(PayloadError) -> String? {
        switch members[key] {
        case nil, .null?: return nil
        case .string(let text)?:
            guard text.utf8.count <= longest else { throw PayloadError("\"\(key)\" is too long") }
            return text
        default: throw PayloadError("\"\(key)\" is no text")
        }
    }

    /// A word out of a list, for everything else is refused.
    func word<Word: RawRepresentable<String>>(_ key: String, _: Word.Type = Word.self) throws(PayloadError) -> Word {
        guard let word = Word(rawValue: try text(key, longest: 64)) else {
            throw PayloadError("\"\(key)\" is no such word")
        }
        return word
    }

    /// A whole number that is not negative.
    func optionalCount(_ key: String, upTo limit: UInt64 = .max) throws(PayloadError) -> UInt64? {
        switch members[key] {
        case nil, .null?: return nil
        case let value?:
            guard let count = value.count, count <= limit else { throw PayloadError("\"\(key)\" is out of range") }
            return count
        }
    }

    func count(_ key: String, upTo limit: UInt64 = .max) throws(PayloadError) -> UInt64 {
        guard let count = try optionalCount(key, upTo: limit) else { throw PayloadError("\"\(key)\" is missing") }
        return count
    }

    /// Milliseconds since 1970 as a length of time.
    func time(_ key: String) throws(PayloadError) -> Duration {
        .milliseconds(Int64(try count(key, upTo: Self.latest)))
    }

    /// A moment as RFC 3339 has it, from 1970 to 9999, in whole milliseconds: others cannot be written.
    func optionalTimestamp(_ key: String) throws(PayloadError) -> Duration? {
        guard let text = try optionalText(key, longest: 40) else { return nil }
        guard let time = Timestamp.real(of: text), time >= .zero, time <= .milliseconds(Int64(Self.latest)) else {
            throw PayloadError("\"\(key)\" is no moment")
        }
        return .milliseconds(time.milliseconds)
    }

    /// Milliseconds, which may be negative. The nearest of ±8000 years, so that later arithmetic has room.
    func optionalDuration(_ key: String) throws(PayloadError) -> Duration? {
        switch members[key] {
        case nil, .null?: return nil
        case .number(let text)?:
            guard let number = Int64(text) else { throw PayloadError("\"\(key)\" is out of range") }
            let limit = Int64(Self.latest)
            return .milliseconds(max(-limit, min(number, limit)))
        default: throw PayloadError("\"\(key)\" is no number")
        }
    }

    func truth(_ key: String) throws(PayloadError) -> Bool {
        guard let truth = members[key]?.truth else { throw PayloadError("\"\(key)\" is not true or false") }
        return truth
    }

    func texts(_ key: String) throws(PayloadError) -> [String] {
        guard case .array(let values)? = members[key] else { throw PayloadError("\"\(key)\" is no list") }
        return values.compactMap(\.text)
    }

    func objects(_ key: String) throws(PayloadError) -> [Payload] {
        guard case .array(let values)? = members[key] else { throw PayloadError("\"\(key)\" is no list") }
        return values.compactMap { if case .object(let members) = $0 { Payload(members: members) } else { nil } }
    }

    func optionalObject(_ key: String) throws(PayloadError) -> Payload? {
        switch members[key] {
        case nil, .null?: return nil
        case .object(let members)?: return Payload(members: members)
        default: throw PayloadError("\"\(key)\" is no object")
        }
    }
}
