public import FoundationEssentials

extension URLEncodedFormEncoder {
    /// How the name of an element of an array is made.
    public enum ArrayEncoding: Sendable {
        /// `key[]`
        case brackets
        /// `key`
        case noBrackets
        /// `key[0]`
        case indexInBrackets
        /// By a closure, of the name of the array and the place in it.
        case custom(@Sendable (_ key: String, _ index: Int) -> String)

        func encode(_ key: String, atIndex index: Int) -> String {
            switch self {
            case .brackets: "\(key)[]"
            case .noBrackets: key
            case .indexInBrackets: "\(key)[\(index)]"
            case .custom(let encode): encode(key, index)
            }
        }
    }

    /// How a truth value is written.
    public enum BoolEncoding: Hashable, Sendable {
        /// `1` and `0`
        case numeric
        /// `true` and `false`
        case literal

        func encode(_ value: Bool) -> String {
            switch self {
            case .numeric: value ? "1" : "0"
            case .literal: String(value)
            }
        }
    }

    /// How bytes are written.
    public enum DataEncoding: Sendable {
        /// As the type does: an array of numbers.
        case deferredToData
        /// Base64 (RFC 4648, section 4).
        case base64
        /// By a closure.
        case custom(@Sendable (Data) throws -> String)

        /// Nil leaves it to the type.
        func encode(_ data: Data) throws -> String? {
            switch self {
            case .deferredToData: nil
            case .base64: data.base64EncodedString()
            case .custom(let encode): try encode(data)
            }
        }
    }

    /// How a point in time is written.
    public enum DateEncoding: Sendable {
        /// As the type does: seconds since 2001.
        case deferredToDate
        /// Seconds since 1970.
        case secondsSince1970
        /// Milliseconds since 1970.
        case millisecondsSince1970
        /// `1970-01-01T00:00:00Z` (ISO 8601), to the second.
        case iso8601
        /// By a closure.
        case custom(@Sendable (Date) throws -> String)

        /// Nil leaves it to the type.
        func encode(_ date: Date) throws -> String? {
            switch self {
            case .deferredToDate: nil
            case .secondsSince1970: String(date.timeIntervalSince1970)
            case .millisecondsSince1970: String(date.timeIntervalSince1970 * 1000)
            case .iso8601: date.formatted(.iso8601)
            case .custom(let encode): try encode(date)
            }
        }
    }

    /// How the name of a part of a part is made, behind the name of the whole.
    public enum KeyPathEncoding: Sendable {
        /// `parent[child]`
        case brackets
        /// `parent.child`
        case dots
        /// By a closure, of the child.
        case custom(@Sendable (_ subkey: String) -> String)

        func encode(_ key: String) -> String {
            switch self {
            case .brackets: "[\(key)]"
            case .dots: ".\(key)"
            case .custom(let encode): encode(key)
            }
        }
    }

    /// How an absent value is written.
    public enum NilEncoding: Sendable {
        /// Not at all.
        case dropKey
        /// `key=`
        case dropValue
        /// `key=null`
        case null
        /// By a closure; nil for not at all.
        case custom(@Sendable () -> String?)

        func encode() -> String? {
            switch self {
            case .dropKey: nil
            case .dropValue: ""
            case .null: "null"
            case .custom(let encode): encode()
            }
        }
    }

    /// How a blank is written.
    public enum SpaceEncoding: Hashable, Sendable {
        /// `%20`
        case percentEscaped
        /// `+`
        case plusReplaced
    }

    /// How a name is written.
    public enum KeyEncoding: Sendable {
        /// As it is.
        case useDefaultKeys
        /// `oneTwoThree` as `one_two_three`.
        case convertToSnakeCase
        /// `oneTwoThree` as `one-two-three`.
        case convertToKebabCase
        /// With its first letter as a capital.
        case capitalized
        /// In capitals.
        case uppercased
        /// In small letters.
        case lowercased
        /// By a closure.
        case custom(@Sendable (String) -> String)

        func encode(_ key: String) -> String {
            switch self {
            case .useDefaultKeys: key
            case .convertToSnakeCase: Self.separate(key, with: "_")
            case .convertToKebabCase: Self.separate(key, with: "-")
            case .capitalized: key.prefix(1).uppercased() + key.dropFirst()
            case .uppercased: key.uppercased()
            case .lowercased: key.lowercased()
            case .custom(let encode): encode(key)
            }
        }

        /// A word begins with a capital that follows a small letter, and with the last one of several that a small letter follows:
        /// `myURLProperty` has three.
        private static func separate(_ key: String, with separator: String) -> String {
            let letters = Array(key)
            var text = ""
            for (index, letter) in letters.enumerated() {
                let isLast = index + 1 < letters.count && letters[index + 1].isLowercase
                if index > 0, letter.isUppercase, letters[index - 1].isUppercase ? isLast : true { text += separator }
                text += letter.lowercased()
            }
            return text
        }
    }
}
