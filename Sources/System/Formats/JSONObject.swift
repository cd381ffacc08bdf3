/// A JSON object on one line (RFC 8259). Its keys keep the order in which they were added. Characters that control a
/// terminal are escaped, because objects are printed.
package struct JSONObject: CustomStringConvertible {
    /// The object as UTF-8, without the closing brace. An array of bytes, because appending to a string is slower.
    private var text: [UInt8]

    package init() {
        text = [UInt8(ascii: "{")]
        text.reserveCapacity(512)
    }

    /// Creates an object from its ``bytes``.
    package init(encoded: some Collection<UInt8>) {
        text = Array(encoded.dropLast())
    }

    /// The complete object as UTF-8.
    package var bytes: [UInt8] {
        var bytes = text
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    package var description: String { String(decoding: bytes, as: UTF8.self) }

    package mutating func add(_ key: String, _ value: String?) {
        begin(key)
        if let value { append(quoted: value) } else { text += "null".utf8 }
    }

    /// Inlined, because generic code for integers is slow.
    @inlinable package mutating func add(_ key: String, _ value: some BinaryInteger) {
        if let number = Int64(exactly: value) { add(key, number) } else { add(key, number: String(value)) }
    }

    package mutating func add(_ key: String, _ value: Int64) {
        begin(key)
        append(value)
    }

    package mutating func add(_ key: String, _ value: UInt64) {
        if value <= Int64.max { add(key, Int64(value)) } else { add(key, number: String(value)) }
    }

    package mutating func add(_ key: String, _ time: Timestamp) {
        begin(key)
        text.append(UInt8(ascii: "\""))
        time.append(to: &text)
        text.append(UInt8(ascii: "\""))
    }

    /// Adds a number.
    ///
    /// - Parameter number: The number in decimal.
    package mutating func add(_ key: String, number: String) {
        begin(key)
        text += number.utf8
    }

    package mutating func add(_ key: String, _ value: Bool) {
        begin(key)
        text += (value ? "true" : "false").utf8
    }

    package mutating func add(_ key: String, _ values: [String]) {
        begin(key)
        text.append(UInt8(ascii: "["))
        for (index, value) in values.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            append(quoted: value)
        }
        text.append(UInt8(ascii: "]"))
    }

    package mutating func add(_ key: String, optional value: (some BinaryInteger)?) {
        if let value { add(key, value) } else { add(key, String?.none) }
    }

    package mutating func add(_ key: String, _ value: JSONObject?) {
        begin(key)
        text += value?.bytes ?? Array("null".utf8)
    }

    package mutating func add(_ key: String, _ value: Bool?) {
        if let value { add(key, value) } else { add(key, String?.none) }
    }

    package mutating func add(_ key: String, _ values: [JSONObject]) {
        begin(key)
        text.append(UInt8(ascii: "["))
        for (index, value) in values.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            text += value.bytes
        }
        text.append(UInt8(ascii: "]"))
    }

    /// Adds the members of another object.
    package mutating func add(_ other: JSONObject) {
        if text.count > 1 { text.append(UInt8(ascii: ",")) }
        text += other.text.dropFirst()
    }

    /// Begins a member. Keys are constants of this package and need no escaping.
    private mutating func begin(_ key: String) {
        let (bytes, isFirst) = (key.utf8.span, text.count == 1)
        text.append(addingCapacity: bytes.count + 4) { output in
            if !isFirst { output.append(UInt8(ascii: ",")) }
            output.append(UInt8(ascii: "\""))
            for index in bytes.indices { output.append(bytes[index]) }
            output.append(UInt8(ascii: "\""))
            output.append(UInt8(ascii: ":"))
        }
    }

    private mutating func append(_ number: Int64) {
        let magnitude = number.magnitude
        var unit: UInt64 = 1
        while magnitude / unit >= 10 { unit *= 10 }
        // The maximum number of digits, and a sign.
        text.append(addingCapacity: 20) { output in
            if number < 0 { output.append(UInt8(ascii: "-")) }
            while unit > 0 {
                output.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: magnitude / unit % 10))
                unit /= 10
            }
        }
    }

    private mutating func append(quoted value: String) {
        let (bytes, count) = (value.utf8.span, text.count)
        var mustBeEscaped = false
        text.append(addingCapacity: bytes.count + 2) { output in
            output.append(UInt8(ascii: "\""))
            for index in bytes.indices {
                let byte = bytes[index]
                // Some characters outside ASCII also control terminals.
                if byte < 0x20 || byte > 0x7e || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                    mustBeEscaped = true
                }
                output.append(byte)
            }
            output.append(UInt8(ascii: "\""))
        }
        if mustBeEscaped {
            text.removeSubrange(count...)
            append(escaped: value)
        }
    }

    private mutating func append(escaped value: String) {
        text.append(UInt8(ascii: "\""))
        defer { text.append(UInt8(ascii: "\"")) }
        for scalar in value.unicodeScalars {
            if scalar == "\"" || scalar == "\\" {
                text.append(UInt8(ascii: "\\"))
                text += scalar.utf8
            } else if scalar.isPrintable {
                text += scalar.utf8
            } else {
                for unit in scalar.utf16 { text += "\\u\(unit.hexadecimal)".utf8 }
            }
        }
    }
}
