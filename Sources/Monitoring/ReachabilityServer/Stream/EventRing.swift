package import LinuxSupport
import NIOCore

/// The latest events, as they are sent. A value.
package struct EventRing: Sendable {
    package struct Entry: Sendable {
        package let number: UInt64
        let bytes: ByteBuffer
        /// The same for people.
        var line = ""

        init(number: UInt64, bytes: ByteBuffer, line: String = "") {
            (self.number, self.bytes, self.line) = (number, bytes, line)
        }

        /// - Parameters:
        ///   - name: What kind of event it is.
        ///   - line: The same for people.
        package init(_ name: String, _ position: StreamPosition, _ object: JSONObject, line: String) {
            self.init(number: position.number, bytes: StreamText.event(name, position, object), line: line)
        }

        /// What it says, as it was encoded once.
        var object: JSONObject {
            let view = bytes.readableBytesView
            let data = view.split(separator: UInt8(ascii: "\n"), maxSplits: 2)[2].dropFirst("data: ".utf8.count)
            return JSONObject(encoded: data.dropLast(2))
        }
    }

    /// The maximum numbers of events and of their bytes.
    private var limit: Int
    private var byteLimit: Int
    private var entries: [Entry] = []
    private var size = 0
    /// The number of the latest event there was.
    private(set) var last: UInt64

    /// - Parameter last: The number of the latest event that is not in it.
    package init(after last: UInt64, limit: Int = 4096, byteLimit: Int = 4 << 20) {
        (self.last, self.limit, self.byteLimit) = (last, limit, byteLimit)
    }

    /// Makes room for several outages of so many targets at once.
    mutating func makeRoom(forTargets count: Int) {
        limit = max(limit, 16 * count)
        byteLimit = max(byteLimit, 16 * 1024 * count)
    }

    mutating func append(_ entry: Entry) {
        entries.append(entry)
        size += entry.size
        last = entry.number
        guard entries.count > limit || size > byteLimit else { return }
        // A quarter at a time, for to take the first out of an array moves all others.
        let gone = max(1, entries.count / 4)
        size -= entries.prefix(gone).reduce(0) { $0 + $1.size }
        entries.removeFirst(gone)
    }

    /// All there are.
    var all: ArraySlice<Entry> { entries[...] }

    /// What came after an event; nil where some of that is gone.
    func after(_ number: UInt64) -> ArraySlice<Entry>? {
        guard number < last else { return [] }
        guard let first = entries.first, first.number <= number + 1 else { return nil }
        return entries[entries.index(entries.startIndex, offsetBy: Int(number + 1 - first.number))...]
    }
}

/// The place of an event in the stream: the run of the service, and the event's number in it.
package struct StreamPosition: Hashable, Sendable, CustomStringConvertible {
    /// Another for each run, for numbers begin anew.
    package let epoch: String
    package let number: UInt64

    package init(epoch: String, number: UInt64) {
        (self.epoch, self.number) = (epoch, number)
    }

    /// Reads `epoch.number`; nil for another text.
    package init?(_ text: String) {
        let parts = text.split(at: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let number = UInt64(parts[1]) else { return nil }
        self.init(epoch: String(parts[0]), number: number)
    }

    package var description: String { "\(epoch).\(number)" }
}

extension EventRing.Entry {
    fileprivate var size: Int { bytes.readableBytes + line.utf8.count }
}
