/// One JSON object on one line, its keys in the order they were added (RFC 8259).
struct JSONObject: CustomStringConvertible {
    private var members: [String] = []

    mutating func add(_ key: String, _ value: String?) {
        add(key, raw: value.map(Self.quoted) ?? "null")
    }

    mutating func add(_ key: String, _ value: some BinaryInteger) {
        add(key, raw: "\(value)")
    }

    mutating func add(_ key: String, _ value: Bool) {
        add(key, raw: "\(value)")
    }

    mutating func add(_ key: String, _ values: [String]) {
        add(key, raw: "[\(values.map(Self.quoted).joined(separator: ","))]")
    }

    private mutating func add(_ key: String, raw value: String) {
        members.append("\(Self.quoted(key)):\(value)")
    }

    var description: String { "{\(members.joined(separator: ","))}" }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\u{0}"..<" ":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
