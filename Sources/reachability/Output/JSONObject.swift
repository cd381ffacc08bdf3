/// One JSON object on one line, its keys in the order they were added (RFC 8259).
struct JSONObject: CustomStringConvertible {
    private var text: String

    init() {
        text = "{"
        text.reserveCapacity(512)
    }

    var description: String { text + "}" }

    mutating func add(_ key: String, _ value: String?) {
        begin(key)
        if let value { append(value) } else { text += "null" }
    }

    mutating func add(_ key: String, _ value: some BinaryInteger) {
        begin(key)
        text += String(value)
    }

    mutating func add(_ key: String, _ value: Bool) {
        begin(key)
        text += value ? "true" : "false"
    }

    mutating func add(_ key: String, _ values: [String]) {
        begin(key)
        text += "["
        for (index, value) in values.enumerated() {
            if index > 0 { text += "," }
            append(value)
        }
        text += "]"
    }

    /// The members of another object.
    mutating func add(_ other: JSONObject) {
        if text.utf8.count > 1 { text += "," }
        text += other.text.dropFirst()
    }

    private mutating func begin(_ key: String) {
        if text.utf8.count > 1 { text += "," }
        append(key)
        text += ":"
    }

    private mutating func append(_ value: String) {
        text += "\""
        if value.utf8.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) {
            for scalar in value.unicodeScalars { append(escaped: scalar) }
        } else {
            text += value
        }
        text += "\""
    }

    private mutating func append(escaped scalar: Unicode.Scalar) {
        switch scalar {
        case "\"": text += "\\\""
        case "\\": text += "\\\\"
        case "\u{0}"..<" ":
            let digits = String(scalar.value, radix: 16)
            text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        default: text.unicodeScalars.append(scalar)
        }
    }
}
