/// Reading of kernel structures that never trusts a length: whatever lies outside the bytes is nil, not a trap.
extension UnsafeRawBufferPointer {
    package func load<Value: BitwiseCopyable>(_ type: Value.Type, at offset: Int) -> Value? {
        guard offset >= 0, offset <= count, count - offset >= MemoryLayout<Value>.size else { return nil }
        return loadUnaligned(fromByteOffset: offset, as: type)
    }

    /// The bytes from `offset` on, at most `length` of them.
    package func bytes(from offset: Int, length: Int = .max) -> UnsafeRawBufferPointer {
        guard offset >= 0, offset < count, length > 0 else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(rebasing: self[offset..<(offset + Swift.min(length, count - offset))])
    }

    /// The whole value as an unsigned number in the machine's order, whatever its width.
    package var number: UInt64? {
        switch count {
        case 1: load(UInt8.self, at: 0).map(UInt64.init)
        case 2: load(UInt16.self, at: 0).map(UInt64.init)
        case 4: load(UInt32.self, at: 0).map(UInt64.init)
        case 8: load(UInt64.self, at: 0)
        default: nil
        }
    }

    /// The first four bytes as the kernel's `__u32`.
    package var word: UInt32? { load(UInt32.self, at: 0) }

    /// Text up to the first zero byte.
    package var text: String { String(decoding: prefix { $0 != 0 }, as: UTF8.self) }
}

/// Writes short ASCII text into memory of the caller's: strings of the standard library cost more than all else where only a
/// path or an address is made of them.
package struct TextBuilder {
    private let memory: UnsafeMutableRawBufferPointer
    package private(set) var count = 0

    /// Text that does not fit ends the program.
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

    /// Ends the text with a zero for C. The result is valid as long as the memory; nil if the memory is empty.
    package mutating func terminated() -> UnsafePointer<CChar>? {
        put(0)
        return UnsafePointer(memory.bindMemory(to: CChar.self).baseAddress)
    }
}
