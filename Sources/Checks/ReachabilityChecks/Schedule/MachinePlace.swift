import LinuxPrimitives

/// Where a machine stands among all others, by the hash of its number: nobody is told either, and it is always the same.
enum MachinePlace {
    /// At least 0 and below 1; by chance where the machine has no number (`machine-id(5)`).
    static let ofThisMachine = TextFile.read("/etc/machine-id", limit: 64).flatMap(of) ?? .random(in: 0..<1)

    /// - Parameter number: as the file has it.
    /// - Returns: nil where it has none yet.
    static func of(_ number: String) -> Double? {
        let digits = number.utf8.prefix { $0 != UInt8(ascii: "\n") }
        guard digits.count == 32 else { return nil }
        // FNV-1a, mixed once more, for its upper bits hardly depend on the last digits. Secret it need not be.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in digits { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        hash = (hash ^ hash >> 32) &* 0x9e37_79b9_7f4a_7c15
        return Double(hash >> 11) / Double(1 << 53)
    }
}
