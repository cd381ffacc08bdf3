/// Writes short ASCII text into memory of the caller's: strings of the standard library cost more than all else where only a
/// path or an address is made of them.
package struct TextBuilder {
    private let memory: UnsafeMutableRawBufferPointer
    package private(set) var count = 0

    /// What does not fit traps.
    package init(_ memory: UnsafeMutableRawBufferPointer) {
        self.memory = memory
    }

    private mutating func put(_ byte: UInt8) {
        memory[count] = byte
        count += 1
    }

    package mutating func append(_ text: StaticString) {
        for byte in UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount) { put(byte) }
    }

    /// In decimal.
    package mutating func append(_ number: UInt32) {
        var unit: UInt32 = 1
        while number / unit >= 10 { unit *= 10 }
        while unit > 0 {
            put(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / unit % 10))
            unit /= 10
        }
    }

    /// Ends the text with a zero, which C wants; good as long as the memory lasts, nil where there is none.
    package mutating func terminated() -> UnsafePointer<CChar>? {
        put(0)
        return UnsafePointer(memory.bindMemory(to: CChar.self).baseAddress)
    }
}
