import Glibc
import LinuxPrimitives

/// The few fields of `/proc/PID/stat` that tell what a process or thread is doing.
///
/// Asked for between a loss and its news, so nothing of it is allocated.
///
/// C counterpart: `proc(5)`.
struct ProcessRecord: Sendable {
    private let state: UInt8
    private let flags: UInt32
    let threads: UInt32

    /// More than the longest file name, and than what stands before the last field.
    private static let room = 512

    /// Opens the file; nil when there is none, or it must not be read, with the reason in `errno`.
    ///
    /// - Parameter thread: one of the process's threads; nil for the first.
    static func open(process: UInt32, thread: UInt32? = nil) -> Descriptor? {
        withUnsafeTemporaryAllocation(byteCount: room, alignment: 1) { buffer in
            var path = TextBuilder(buffer)
            path.append("/proc/")
            path.append(process)
            if let thread {
                path.append("/task/")
                path.append(thread)
            }
            path.append("/stat")
            guard let name = path.terminated() else { return nil }
            let number = Glibc.open(name, O_RDONLY | O_CLOEXEC)
            return number < 0 ? nil : Descriptor(owning: number)
        }
    }

    /// What is so now; nil when it cannot be read, with the reason in `errno`, or is not such a file, with 0 there.
    init?(file: borrowing Descriptor) {
        let number = file.number
        let record = withUnsafeTemporaryAllocation(byteCount: Self.room, alignment: 1) { buffer in
            errno = 0
            let count = pread(number, buffer.baseAddress, buffer.count, 0)
            return ProcessRecord(text: UnsafeRawBufferPointer(buffer).bytes(from: 0, length: count))
        }
        guard let record else { return nil }
        self = record
    }

    /// The name of the program stands second, in parentheses, and may contain anything.
    init?(text: UnsafeRawBufferPointer) {
        guard var index = text.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        var (state, flags, threads) = (UInt8(0), UInt32?.none, UInt32?.none)
        // Fields are numbered as in proc(5).
        var field = 2
        while index + 1 < text.count, field <= 20 {
            index += 1
            let byte = text[index]
            if byte == UInt8(ascii: " ") {
                field += 1
                continue
            }
            switch field {
            case 3: state = byte
            case 9: guard flags.append(digit: byte) else { return nil }
            case 20: guard threads.append(digit: byte) else { return nil }
            default: continue
            }
        }
        guard let flags, let threads else { return nil }
        self.state = state
        self.flags = flags
        self.threads = threads
    }

    /// Running, or in line for a processor (R), or waiting for a lock or a device inside the kernel (D). Not what is about to
    /// end (PF_EXITING): nothing more will come of it.
    var isRunning: Bool { flags & 0x4 == 0 && (state == UInt8(ascii: "R") || state == UInt8(ascii: "D")) }
}

extension UInt32? {
    /// Adds a decimal digit; says whether it is one, and the number not too large.
    mutating func append(digit byte: UInt8) -> Bool {
        let digit = UInt64(byte &- UInt8(ascii: "0"))
        let number = UInt64(self ?? 0) * 10 + digit
        guard digit < 10, number <= UInt32.max else { return false }
        self = UInt32(number)
        return true
    }
}
