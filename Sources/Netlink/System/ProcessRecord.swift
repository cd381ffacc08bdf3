import Glibc

/// The few fields of `/proc/PID/stat` that tell what a process or thread is doing.
///
/// C counterpart: `proc(5)`.
struct ProcessRecord: Sendable {
    private let state: UInt8
    private let flags: UInt32
    let threads: UInt32

    /// Nil when the file cannot be read, with the reason in `errno`, or is not such a file.
    init?(path: String) {
        guard let file = try? Descriptor.open(path) else { return nil }
        var text = [UInt8](repeating: 0, count: 512)
        let count = read(file.number, &text, text.count)
        guard count > 0 else { return nil }
        self.init(text: text[..<count])
    }

    /// The name of the program stands second, in parentheses, and may contain anything.
    init?(text: ArraySlice<UInt8>) {
        guard let end = text.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        var rest = text[(end + 1)...]
        guard let state = rest.nextField()?.first else { return nil }
        for _ in 0..<5 { _ = rest.nextField() }
        guard let flags = rest.nextField().flatMap({ UInt32(decimal: $0) }) else { return nil }
        for _ in 0..<10 { _ = rest.nextField() }
        guard let threads = rest.nextField().flatMap({ UInt32(decimal: $0) }) else { return nil }
        self.state = state
        self.flags = flags
        self.threads = threads
    }

    /// Running, or in line for a processor (R), or waiting for a lock or a device inside the kernel (D). Not what is about to
    /// end (PF_EXITING): nothing more will come of it.
    var isRunning: Bool { flags & 0x4 == 0 && (state == UInt8(ascii: "R") || state == UInt8(ascii: "D")) }
}

extension ArraySlice<UInt8> {
    /// Takes the next field off, between blanks; nil when there is none.
    fileprivate mutating func nextField() -> ArraySlice<UInt8>? {
        let blank = UInt8(ascii: " ")
        guard let begin = firstIndex(where: { $0 != blank }) else { return nil }
        let end = self[begin...].firstIndex(of: blank) ?? endIndex
        defer { self = self[end...] }
        return self[begin..<end]
    }
}

extension UInt32 {
    /// A number in decimal digits and nothing else.
    init?(decimal digits: some Collection<UInt8>) {
        guard !digits.isEmpty else { return nil }
        self = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            let (tens, isTooLarge) = multipliedReportingOverflow(by: 10)
            let (sum, carries) = tens.addingReportingOverflow(UInt32(digit - UInt8(ascii: "0")))
            if isTooLarge || carries { return nil }
            self = sum
        }
    }
}
