/// What a recording is of: everything a replay needs besides what happened.
package struct RecordingHeader: Hashable, Sendable {
    /// The version of the command that recorded.
    package var version: String
    /// The kernel's release, as `uname -r` has it.
    package var kernel: String
    /// The hosts as they were given; none is the network at large.
    package var hosts: [String]
    /// The name of the network namespace; nil for the one the command ran in.
    package var namespace: String?
    package var mark: UInt32
    package var filtersRoutes: Bool
    /// The addresses that stand for the network at large, as text.
    package var addressesAtLarge: [String]
    package var nameRefreshInterval: Duration
    /// When it began: since 1970, and on CLOCK_MONOTONIC and CLOCK_BOOTTIME.
    package var start: RecordedMoment
    /// Whether addresses and names are not the real ones.
    package var isRedacted = false

    package init(
        version: String,
        kernel: String,
        hosts: [String],
        namespace: String?,
        mark: UInt32,
        filtersRoutes: Bool,
        addressesAtLarge: [String],
        nameRefreshInterval: Duration,
        start: RecordedMoment
    ) {
        self.version = version
        self.kernel = kernel
        self.hosts = hosts
        self.namespace = namespace
        self.mark = mark
        self.filtersRoutes = filtersRoutes
        self.addressesAtLarge = addressesAtLarge
        self.nameRefreshInterval = nameRefreshInterval
        self.start = start
    }
}

extension RecordingHeader {
    func encode(to encoder: inout ByteEncoder) {
        encoder.add(version)
        encoder.add(kernel)
        encoder.add(list: hosts)
        encoder.add(list: namespace.map { [$0] } ?? [])
        encoder.add(number: UInt64(mark))
        encoder.add(filtersRoutes)
        encoder.add(list: addressesAtLarge)
        encoder.add(nameRefreshInterval)
        encoder.add(start.real)
        encoder.add(start.monotonic)
        encoder.add(start.boot)
        encoder.add(isRedacted)
    }

    init(from decoder: inout ByteDecoder) throws(ByteDecoder.Malformed) {
        self.init(
            version: try decoder.text(),
            kernel: try decoder.text(),
            hosts: try decoder.list(),
            namespace: try decoder.list().first,
            mark: try decoder.number(UInt32.self),
            filtersRoutes: try decoder.flag(),
            addressesAtLarge: try decoder.list(),
            nameRefreshInterval: try decoder.duration(),
            start: RecordedMoment(
                real: try decoder.duration(),
                monotonic: try decoder.duration(),
                boot: try decoder.duration()
            )
        )
        isRedacted = try decoder.flag()
    }
}

extension ByteEncoder {
    fileprivate mutating func add(list: [String]) {
        add(number: UInt64(list.count))
        for text in list { add(text) }
    }
}

extension ByteDecoder {
    fileprivate mutating func list() throws(Malformed) -> [String] {
        let count = try number(Int.self)
        // Each takes a byte at least.
        guard count <= rest.count else { throw Malformed() }
        var list: [String] = []
        for _ in 0..<count { list.append(try text()) }
        return list
    }
}
