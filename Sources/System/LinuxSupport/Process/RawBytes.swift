/// Bounds-checked access to kernel structures. An access outside the bytes returns nil instead of trapping.
extension UnsafeRawBufferPointer {
    package func load<Value: BitwiseCopyable>(_ type: Value.Type, at offset: Int) -> Value? {
        guard offset >= 0, offset <= count, count - offset >= MemoryLayout<Value>.size else { return nil }
        return loadUnaligned(fromByteOffset: offset, as: type)
    }

    /// Returns the bytes from `offset`, at most `length` of them.
    package func bytes(from offset: Int, length: Int = .max) -> UnsafeRawBufferPointer {
        guard offset >= 0, offset < count, length > 0 else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(rebasing: self[offset..<(offset + Swift.min(length, count - offset))])
    }

    /// All bytes as an unsigned number in native byte order; nil if the count is not 1, 2, 4 or 8.
    package var number: UInt64? {
        switch count {
        case 1: load(UInt8.self, at: 0).map(UInt64.init)
        case 2: load(UInt16.self, at: 0).map(UInt64.init)
        case 4: load(UInt32.self, at: 0).map(UInt64.init)
        case 8: load(UInt64.self, at: 0)
        default: nil
        }
    }

    /// The first four bytes, as the kernel's `__u32`.
    package var word: UInt32? { load(UInt32.self, at: 0) }

    /// The text up to the first zero byte.
    package var text: String { String(decoding: prefix { $0 != 0 }, as: UTF8.self) }
}

/// A writer of short ASCII texts into memory of the caller. It avoids the cost of strings of the standard library for
/// paths and addresses.
package struct TextBuilder {
    private let memory: UnsafeMutableRawBufferPointer
    package private(set) var count = 0

    /// Creates a writer. Text that does not fit traps.
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

    /// Appends a number in decimal.
    package mutating func append(_ number: UInt32) {
        var unit: UInt32 = 1
        while number / unit >= 10 { unit *= 10 }
        while unit > 0 {
            put(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / unit % 10))
            unit /= 10
        }
    }
}
